import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atApi, atMcp, owner, refusal } from '../../../test/identity/identity.fixture.ts'
import { mintSessionToken } from '../token.ts'
import { peopleContract } from '../../../test/identity/people/people.contract.ts'
import { parseCode, setupPeople } from '../../../test/identity/people/people.fixture.ts'

peopleContract('sqlite', async () => ({}))

test('SV2 the startup link signs in as the owner, and no entry contains its code', async () => {
  const { identity, signIn, entries } = await setupPeople()
  const { link, expiresAt } = await identity.people.ownerLink()
  expect(expiresAt).toBe(Date.parse('2026-08-01T12:05:00Z'))
  expect(entries).toEqual([
    expect.objectContaining({ type: 'link.made', actor: { kind: 'system', id: 'cowork' } }),
  ])
  expect(JSON.stringify(entries)).not.toContain(parseCode(link).slice(0, 8))
  expect(await (await signIn(link)).caller()).toMatchObject({ id: 'owner', role: 'owner' })
})

test('I6 a sign-in link expires after 5 minutes and an invitation after 24 hours', async () => {
  const { openLink, invite, signIn, time } = await setupPeople()
  const { link } = await openLink()
  const inTime = await openLink()
  const invited = await invite('Anna')
  await time.pass(5 * 60_000 - 1)
  await signIn(inTime.link)
  await time.pass(1)
  expect(await refusal(signIn(link))).toMatchObject({
    code: 'expired_link',
    message: expect.stringContaining('5 minutes'),
  })
  await time.pass(24 * 60 * 60_000)
  expect(await refusal(signIn(invited.link))).toMatchObject({
    code: 'expired_link',
    message: expect.stringContaining('24 hours'),
    hint: expect.stringContaining('invite you again'),
  })
})

test('I6 links are deleted a day after their end and are unknown afterwards', async () => {
  const { openLink, signIn, time, db } = await setupPeople()
  const { link } = await openLink()
  await time.pass(26 * 60 * 60_000)
  await openLink()
  expect(await db.all({ sql: 'select hash from link', parameters: [] })).toHaveLength(1)
  expect(await refusal(signIn(link))).toMatchObject({ code: 'unknown_link' })
})

test('I6 codes and tokens are unique and only valid in full', async () => {
  const { openLink, signIn, identity } = await setupPeople({ sleep: async () => undefined })
  const { link } = await openLink()
  const code = parseCode(link)
  const { token } = await signIn((await openLink()).link)
  const broken = fc.oneof(
    fc.nat(code.length - 1).map((at) => (text: string) => text.slice(0, at)),
    fc.nat(code.length - 1).map((at) => (text: string) => {
      const other = text[at] === 'a' ? 'b' : 'a'
      return text.slice(0, at) + other + text.slice(at + 1)
    }),
    fc.string().map((more) => (text: string) => `${text}${more || ' '}`),
    fc.string({ maxLength: 2000 }).map((text) => () => text),
  )
  await fc.assert(
    fc.asyncProperty(broken, async (change) => {
      const given = { code: change(code), address: '127.0.0.1', userAgent: '' }
      expect((await refusal(identity.people.signIn(given))).code).toBe('unknown_link')
      const bearer = change(token)
      if (bearer === '') return
      const { code: refused } = await refusal(identity.identify({ ...atApi, bearer }))
      expect(refused).toBe('auth_error')
    }),
    { numRuns: 50 },
  )
  await signIn(link)
  const minted = Array.from({ length: 100 }, () => mintSessionToken().token)
  expect(new Set(minted).size).toBe(100)
})

test('I9 wrong codes are delayed and recorded without the code', async () => {
  const { identity, openLink, signIn, time, noted } = await setupPeople()
  const guess = () =>
    refusal(identity.people.signIn({ code: 'guess'.repeat(8), address: '10.0.0.9', userAgent: '' }))
  for (let n = 1; n < 5; n++) await guess()
  const slow = guess()
  // One sleep is the count window, the other the delay of the response.
  await expect.poll(() => time.asleep()).toBe(2)
  await time.pass(1000)
  expect(await slow).toMatchObject({ code: 'unknown_link' })
  expect(noted[0]).toMatchObject({
    type: 'auth.failed',
    subject: '10.0.0.9',
    outcome: 'unknown_link',
  })
  expect(JSON.stringify(noted)).not.toContain('guess')
  // A valid code from another address is not delayed.
  await signIn((await openLink()).link)
})

test('A3 a session token is refused on MCP, as bearer and as agent_token', async () => {
  const { openLink, signIn, identity } = await setupPeople()
  const { token } = await signIn((await openLink()).link)
  for (const given of [{ bearer: token }, { agentToken: token }])
    expect(await refusal(identity.identify({ ...atMcp, ...given }))).toMatchObject({
      code: 'person_token_on_mcp',
    })
  for (const given of [{ bearer: mintSessionToken().token }, { agentToken: 'ps-cowork-x' }])
    expect(await refusal(identity.identify({ ...atMcp, ...given }))).toMatchObject({
      code: 'auth_error',
    })
  const both = identity.identify({ ...atApi, bearer: token, agentToken: owner })
  expect(await refusal(both)).toMatchObject({ message: expect.stringContaining('different') })
})

test('I1 a person has one principal in all sessions', async () => {
  const { openLink, signIn, identity } = await setupPeople()
  const { token } = await signIn((await openLink()).link)
  expect(await identity.getPrincipal({ ...atApi, bearer: token })).toBe('person:owner')
})

test('I6 signing out ends the session it came from', async () => {
  const { openLink, signIn, identity, entries } = await setupPeople()
  const { caller, session } = await signIn((await openLink()).link)
  await identity.people.signOut(await caller())
  expect(await refusal(caller())).toMatchObject({ code: 'auth_error' })
  expect(entries.at(-1)).toMatchObject({
    type: 'session.ended',
    subject: session,
    data: { reason: 'signed_out' },
  })
})

test("I10 the owner's token is not a session: it is not listed and cannot sign out", async () => {
  const { identity, sessions } = await setupPeople()
  const caller = await identity.identify({ ...atApi, bearer: owner })
  expect(await sessions()).toEqual([])
  expect(await refusal(identity.people.signOut(caller))).toMatchObject({ code: 'not_found' })
  expect(await identity.people.me(caller)).toEqual({
    person: expect.objectContaining({ id: 'owner', name: 'Owner' }),
  })
})

test('I6 people see and end their own sessions, owners all sessions', async () => {
  const { join, openLink, signIn, sessions, use } = await setupPeople()
  const anna = await join('Anna', 'viewer')
  const mine = await signIn((await openLink()).link)
  const by = await anna.caller()
  expect(await sessions(by)).toEqual([
    expect.objectContaining({ id: anna.session, person: 'anna', name: 'Anna', current: true }),
  ])
  expect((await sessions()).map(({ id }) => id)).toEqual(
    expect.arrayContaining([anna.session, mine.session]),
  )
  const others = use('cowork_revoke_session', { session: mine.session }, by)
  expect(await refusal(others)).toMatchObject({ code: 'not_found' })
  await use('cowork_revoke_session', { session: anna.session })
  expect(await refusal(anna.caller())).toMatchObject({ code: 'auth_error' })
})

test('I6 changes of people and sessions are recorded without secrets', async () => {
  const { invite, signIn, use, openLink, identity, entries, noted, logged } = await setupPeople()
  const invited = await invite('Anna', 'viewer')
  const anna = await signIn(invited.link, 'Safari')
  await use('cowork_set_role', { person: 'anna', role: 'reviewer' })
  const own = await openLink(await anna.caller())
  await identity.people.signOut(await anna.caller())
  await use('cowork_remove_person', { person: 'anna' })
  expect(entries.map(({ type, subject }) => [type, subject])).toEqual([
    ['person.invited', invited.id],
    ['person.joined', 'anna'],
    ['session.opened', anna.session],
    ['role.changed', 'anna'],
    ['link.made', 'anna'],
    ['session.ended', anna.session],
    ['person.removed', 'anna'],
  ])
  expect(entries[1]).toMatchObject({
    actor: { kind: 'human', id: 'anna', session: anna.session, client: { name: 'Safari' } },
    data: { name: 'Anna', role: 'viewer', invited_by: 'owner' },
  })
  const kept = JSON.stringify([entries, noted, logged])
  for (const secret of [parseCode(invited.link), parseCode(own.link), anna.token])
    expect(kept).not.toContain(secret)
})

test('I6 an invitation can be withdrawn and is void without an active owner', async () => {
  const { invite, signIn, join, use, people } = await setupPeople()
  const { link, id } = await invite('Anna')
  await use('cowork_withdraw_invitation', { invitation: id })
  expect(await refusal(signIn(link))).toMatchObject({ code: 'unknown_link' })
  expect((await people()).invitations).toEqual([])
  const again = use('cowork_withdraw_invitation', { invitation: id })
  expect(await refusal(again)).toMatchObject({ code: 'not_found' })

  const ben = await join('Ben', 'owner')
  const fromBen = await invite('Eve', 'owner', await ben.caller())
  await use('cowork_set_role', { person: 'ben', role: 'viewer' })
  expect(await refusal(signIn(fromBen.link))).toMatchObject({ code: 'void_link' })
})

test.each(['', '   ', 'a\u0007b', 'x\u202ey', 'x'.repeat(200)])(
  'I6 the person name %j is refused',
  async (name) => {
    const { invite, people } = await setupPeople()
    await expect(invite(name)).rejects.toThrow(/name/)
    expect((await people()).invitations).toEqual([])
  },
)
