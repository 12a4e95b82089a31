import { describe, expect, test } from 'vitest'
import { sha256Hex } from '#base/hash.ts'
import { atApi, owner, refusal, setup } from '../identity.fixture.ts'
import type { Setup } from '../identity.fixture.ts'
import { parseCode, setupPeople } from './people.fixture.ts'

const minute = 60_000
const day = 24 * 60 * minute
const rows = (sql: string) => ({ sql, parameters: [] })

/** Tests of people on an engine; `open` creates a store. */
export function peopleContract(dialect: string, open: () => Promise<Setup>) {
  const people = async () => setupPeople(await open())

  describe(`people on ${dialect}`, () => {
    test('I6 the owner is created once, on the first start', async () => {
      const { db, people: list, ...first } = await people()
      if (dialect === 'sqlite')
        expect(first.atStart).toEqual([
          expect.objectContaining({ type: 'person.joined', subject: 'owner' }),
        ])
      const again = await setup({ db })
      expect(again.atStart).toEqual([])
      expect((await list()).people).toMatchObject([
        { id: 'owner', name: 'Owner', role: 'owner', status: 'active', sessions: 0 },
      ])
    })

    test('I6 a link opens one session, and both are stored only as hashes', async () => {
      const { openLink, signIn, db } = await people()
      const { link, expires_at } = await openLink()
      expect(link).toMatch(/^http:\/\/localhost:8765\/#code=[\w-]{43}$/)
      expect(expires_at).toBe('2026-08-01T12:05:00.000Z')
      const { token, caller, session } = await signIn(link, 'Mozilla/5.0 Firefox')
      expect(token).toMatch(/^ps-cowork-[0-9a-f]{48}$/)
      expect(await caller()).toEqual({
        channel: 'console',
        kind: 'human',
        id: 'owner',
        role: 'owner',
        verified: true,
        scopes: ['*'],
        session,
      })
      expect(await db.all(rows('select hash, person, used_at from link'))).toEqual([
        {
          hash: sha256Hex(parseCode(link)),
          person: 'owner',
          used_at: Date.parse('2026-08-01T12:00'),
        },
      ])
      expect(await db.all(rows('select hash, user_agent from person_session'))).toEqual([
        { hash: sha256Hex(token), user_agent: 'Mozilla/5.0 Firefox' },
      ])
      expect(await refusal(signIn(link))).toMatchObject({
        code: 'used_link',
        hint: expect.stringContaining('cowork open'),
      })
    })

    test('I6 of four concurrent requests with one link one succeeds', async () => {
      const { openLink, signIn } = await people()
      const { link } = await openLink()
      const came = await Promise.allSettled(Array.from({ length: 4 }, () => signIn(link)))
      expect(came.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    test('I6 each use extends a session by 30 days', async () => {
      const { openLink, signIn, time, sessions, db } = await people()
      const { link } = await openLink()
      const { caller } = await signIn(link)
      const seen = async () => (await sessions())[0]
      await time.pass(minute - 1)
      await caller()
      expect(await seen()).toMatchObject({ last_seen_at: '2026-08-01T12:00:00.000Z' })
      await time.pass(29 * day)
      await caller()
      await db.transact(async () => undefined)
      expect(await seen()).toMatchObject({ last_seen_at: '2026-08-30T12:00:59.999Z' })
      await time.pass(30 * day - 1)
      expect(await seen()).toMatchObject({ expires_at: '2026-09-29T12:00:59.999Z' })
      await time.pass(1)
      expect(await sessions()).toEqual([])
      expect(await refusal(caller())).toMatchObject({ code: 'auth_error' })
    })

    test('I6 a revoked session is refused immediately, others stay active', async () => {
      const { openLink, signIn, use, entries } = await people()
      const one = await signIn((await openLink()).link)
      const other = await signIn((await openLink()).link)
      await use('cowork_revoke_session', { session: one.session })
      expect(await refusal(one.caller())).toMatchObject({
        code: 'auth_error',
        message: expect.stringContaining('ended'),
        hint: expect.stringContaining('cowork open'),
      })
      expect(await other.caller()).toMatchObject({ id: 'owner' })
      const again = use('cowork_revoke_session', { session: one.session })
      expect(await refusal(again)).toMatchObject({ code: 'not_found' })
      if (dialect === 'sqlite')
        expect(entries.findLast(({ type }) => type === 'session.ended')).toMatchObject({
          subject: one.session,
          data: { person: 'owner', reason: 'revoked' },
        })
    })

    test('I6 an invited person joins with the role of the invitation and a unique id', async () => {
      const { invite, signIn, people: list } = await people()
      const { link, expires_at, id } = await invite('Anna Berg', 'viewer')
      expect(link).toMatch(/^http:\/\/localhost:8765\/#invite=[\w-]{43}$/)
      expect(expires_at).toBe('2026-08-02T12:00:00.000Z')
      expect((await list()).invitations).toMatchObject([
        { id, name: 'Anna Berg', invited_by: 'owner' },
      ])
      const anna = await signIn(link)
      expect(await anna.caller()).toMatchObject({ id: 'anna-berg', role: 'viewer' })
      const other = await signIn((await invite('anna berg')).link)
      expect(await other.caller()).toMatchObject({ id: 'anna-berg-2', role: 'reviewer' })
      expect(await refusal(signIn(link))).toMatchObject({ code: 'used_link' })
      expect((await list()).invitations).toEqual([])
      expect((await list()).people.map(({ id: person }) => person)).toEqual([
        'anna-berg',
        'anna-berg-2',
        'owner',
      ])
    })

    test('I6 a role change applies to the next call', async () => {
      const { join, use } = await people()
      const anna = await join('Anna', 'viewer')
      expect(await anna.caller()).toMatchObject({ role: 'viewer' })
      await use('cowork_set_role', { person: 'anna', role: 'reviewer' })
      expect(await anna.caller()).toMatchObject({ role: 'reviewer' })
    })

    test('I6 removing a person ends sessions and links, and the id is never reused', async () => {
      const { join, signIn, openLink, invite, use, entries, people: list } = await people()
      const anna = await join('Anna', 'owner')
      const caller = await anna.caller()
      const own = await openLink(caller)
      const invited = await invite('Ben', 'owner', caller)
      const second = await signIn((await openLink(caller)).link)
      await use('cowork_remove_person', { person: 'anna' })
      if (dialect === 'sqlite')
        expect(
          entries.filter(({ type }) => type === 'session.ended').map(({ subject }) => subject),
        ).toEqual(expect.arrayContaining([anna.session, second.session]))
      for (const { caller: comes } of [anna, second])
        expect(await refusal(comes())).toMatchObject({ code: 'auth_error' })
      for (const { link } of [own, invited])
        expect(await refusal(signIn(link))).toMatchObject({ code: 'void_link' })
      expect(await (await join('Anna')).caller()).toMatchObject({ id: 'anna-2' })
      expect((await list()).people.map(({ id, status }) => [id, status])).toEqual([
        ['anna', 'removed'],
        ['anna-2', 'active'],
        ['owner', 'active'],
      ])
      const again = use('cowork_remove_person', { person: 'anna' })
      expect(await refusal(again)).toMatchObject({ code: 'not_found' })
    })

    test('I10 the last owner can be neither removed nor demoted', async () => {
      const { join, use, identity } = await people()
      const anna = await join('Anna', 'owner')
      const by = await anna.caller()
      for (const act of [
        () => use('cowork_remove_person', { person: 'owner' }, by),
        () => use('cowork_set_role', { person: 'owner', role: 'viewer' }, by),
      ])
        expect(await refusal(act())).toMatchObject({ code: 'last_owner' })
      await use('cowork_set_role', { person: 'anna', role: 'reviewer' })
      expect(await anna.caller()).toMatchObject({ role: 'reviewer' })
      expect(await identity.identify({ ...atApi, bearer: owner })).toMatchObject({ role: 'owner' })
    })

    test('I6 A4 decisions of removed people and viewers no longer count', async () => {
      const { identity, db, join, use } = await people()
      const may = (id: string) => identity.people.canStillDecide(db, id)
      for (const [name, role] of [
        ['Ann', 'reviewer'],
        ['Bob', 'owner'],
        ['Vera', 'viewer'],
      ] as const)
        await join(name, role)
      expect(await Promise.all(['owner', 'ann', 'bob', 'vera'].map(may))).toEqual([
        true,
        true,
        true,
        false,
      ])
      await use('cowork_remove_person', { person: 'ann' })
      await use('cowork_set_role', { person: 'bob', role: 'viewer' })
      expect(await Promise.all(['ann', 'bob'].map(may))).toEqual([false, false])
      // No person has this id.
      expect(await may('unverified')).toBe(true)
    })
  })
}
