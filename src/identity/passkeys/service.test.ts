import { expect, test } from 'vitest'
import { atApi, createUse, owner, refusal } from '../../../test/identity/identity.fixture.ts'
import { setupPeople } from '../../../test/identity/people/people.fixture.ts'
import type { Signed } from '../../../test/identity/people/people.fixture.ts'
import { createAuthenticator } from '../../../test/identity/passkeys/passkeys.fixture.ts'
import type { Changes } from '../../../test/identity/passkeys/passkeys.fixture.ts'

const minute = 60_000
const address = '127.0.0.1'

async function setupPasskeys() {
  const parts = await setupPeople()
  const { passkeys } = parts.identity
  type Authenticator = ReturnType<typeof createAuthenticator>
  const challenge = async (by: Signed, purpose: 'register' | 'assert') =>
    (await passkeys.challenge(await by.caller(), purpose)).challenge
  const answering = async (by: Signed) => ({ caller: await by.caller(), address })

  async function register(by: Signed, key: Authenticator, changes: Changes = {}) {
    const asked = await challenge(by, 'register')
    const given = { ...key.create(asked, changes), name: 'Laptop' }
    return passkeys.register(given, await answering(by))
  }
  async function assert(by: Signed, key: Authenticator, changes: Changes = {}) {
    const asked = await challenge(by, 'assert')
    return passkeys.assert(key.get(asked, changes), await answering(by))
  }
  const mine = await parts.signIn((await parts.openLink()).link)
  parts.entries.length = 0
  return { ...parts, passkeys, mine, challenge, answering, register, assert }
}

test('I6 a passkey confirms its session for 5 minutes and no other session', async () => {
  const { register, assert, mine, signIn, openLink, passkeys, time, entries } =
    await setupPasskeys()
  const other = await signIn((await openLink()).link)
  entries.length = 0
  const key = createAuthenticator()
  expect(await passkeys.has('owner')).toBe(false)
  await register(mine, key)
  expect(await passkeys.has('owner')).toBe(true)
  expect(await mine.caller()).not.toHaveProperty('assured')
  expect(await assert(mine, key)).toBe(time.now() + 5 * minute)
  expect(await mine.caller()).toMatchObject({ assured: true })
  expect(await other.caller()).not.toHaveProperty('assured')
  await time.pass(5 * minute - 1)
  expect(await mine.caller()).toMatchObject({ assured: true })
  await time.pass(1)
  expect(await mine.caller()).not.toHaveProperty('assured')
  expect(entries).toMatchObject([
    { type: 'passkey.added', subject: key.id, data: { name: 'Laptop', algorithm: -7 } },
    { type: 'passkey.asserted', subject: key.id, actor: { id: 'owner', session: mine.session } },
  ])
})

test('I6 RS10 a passkey confirms one decision once and nothing else', async () => {
  const { passkeys, mine, register, answering, time, signIn, openLink } = await setupPasskeys()
  const other = await signIn((await openLink()).link)
  const key = createAuthenticator()
  await register(mine, key)
  const [decision, another] = ['a'.repeat(64), 'b'.repeat(64)]
  const confirm = async () => {
    const { challenge } = await passkeys.challenge(await mine.caller(), 'assert', decision)
    await passkeys.assert(key.get(challenge), await answering(mine))
  }
  await confirm()
  expect(await mine.caller()).not.toHaveProperty('assured')
  expect(passkeys.takeConfirmed(mine.session, another)).toBe(false)
  expect(passkeys.takeConfirmed(other.session, decision)).toBe(false)
  expect(passkeys.takeConfirmed(mine.session, decision)).toBe(true)
  expect(passkeys.takeConfirmed(mine.session, decision)).toBe(false)
  await confirm()
  await time.pass(2 * minute)
  expect(passkeys.takeConfirmed(mine.session, decision)).toBe(false)
})

test('I6 the challenge contains the person, the host and the registered passkeys', async () => {
  const { passkeys, mine, register, assert } = await setupPasskeys()
  const key = createAuthenticator()
  await register(mine, key)
  await assert(mine, key)
  const asked = await passkeys.challenge(await mine.caller(), 'register')
  expect(asked).toMatchObject({ rpId: 'localhost', allow: [key.id] })
  expect(asked.challenge).toMatch(/^[\w-]{43}$/)
  expect(asked.user.handle).toMatch(/^[\w-]{43}$/)
  expect(await refusal(register(mine, key))).toMatchObject({ code: 'passkey_exists' })
})

test('I6 a challenge is valid once, for 2 minutes, in its session and for its purpose', async () => {
  const { passkeys, mine, signIn, openLink, register, challenge, answering, time } =
    await setupPasskeys()
  const other = await signIn((await openLink()).link)
  const key = createAuthenticator()
  await register(mine, key)
  const notAsked = { code: 'passkey_refused', details: { reason: 'not_asked' } }
  const assert = async (by: Signed, asked: string) =>
    passkeys.assert(key.get(asked), await answering(by))

  const asked = await challenge(mine, 'assert')
  expect(await refusal(assert(other, asked))).toMatchObject(notAsked)
  await time.pass(2 * minute - 1)
  await assert(mine, asked)
  expect(await refusal(assert(mine, asked))).toMatchObject(notAsked)

  const late = await challenge(mine, 'assert')
  await time.pass(2 * minute)
  expect(await refusal(assert(mine, late))).toMatchObject(notAsked)

  const toRegister = await challenge(mine, 'register')
  expect(await refusal(assert(mine, toRegister))).toMatchObject(notAsked)
  const first = await challenge(mine, 'assert')
  await challenge(mine, 'assert')
  expect(await refusal(assert(mine, first))).toMatchObject({
    details: { reason: 'wrong_challenge' },
  })
})

test('I6 a replayed response is refused, even with a new challenge', async () => {
  const { passkeys, mine, register, challenge, answering, time } = await setupPasskeys()
  const key = createAuthenticator()
  await register(mine, key)
  const answer = key.get(await challenge(mine, 'assert'))
  await passkeys.assert(answer, await answering(mine))
  await time.pass(6 * minute)
  await challenge(mine, 'assert')
  expect(await refusal(passkeys.assert(answer, await answering(mine)))).toMatchObject({
    details: { reason: 'wrong_challenge' },
  })
  expect(await mine.caller()).not.toHaveProperty('assured')
})

test.each([
  [{ origin: 'http://localhost:1' }, 'wrong_origin'],
  [{ rpId: 'evil.example' }, 'wrong_rp'],
  [{ flags: 0x01 }, 'not_verified'],
] as const)('I6 %j is refused as %s, recorded, and assures nobody', async (changes, reason) => {
  const { mine, register, assert, noted } = await setupPasskeys()
  const key = createAuthenticator()
  expect(await refusal(register(mine, key, changes))).toMatchObject({ details: { reason } })
  await register(mine, key)
  expect(await refusal(assert(mine, key, changes))).toMatchObject({
    code: 'passkey_refused',
    details: { reason },
  })
  expect(await mine.caller()).not.toHaveProperty('assured')
  expect(noted[0]).toMatchObject({
    type: 'auth.failed',
    outcome: `passkey_${reason}`,
    data: { claimed: 'owner' },
  })
})

test('I6 a decreasing counter is refused and recorded', async () => {
  const { mine, register, assert, entries } = await setupPasskeys()
  const key = createAuthenticator()
  await register(mine, key)
  await assert(mine, key)
  key.rewind(1)
  expect(await refusal(assert(mine, key))).toMatchObject({
    details: { reason: 'counter_back' },
    hint: expect.stringContaining('Remove'),
  })
  expect(entries.at(-1)).toMatchObject({
    type: 'passkey.refused',
    subject: key.id,
    outcome: 'counter_back',
  })
})

test('I6 a passkey of another person is refused', async () => {
  const { mine, join, register, passkeys, challenge, answering } = await setupPasskeys()
  const anna = await join('Anna', 'viewer')
  const key = createAuthenticator()
  await register(mine, key)
  await register(anna, createAuthenticator())
  const answer = key.get(await challenge(anna, 'assert'))
  expect(await refusal(passkeys.assert(answer, await answering(anna)))).toMatchObject({
    details: { reason: 'unknown_passkey' },
  })
})

test('I6 adding a second passkey requires the first', async () => {
  const { mine, signIn, openLink, register, assert } = await setupPasskeys()
  const key = createAuthenticator()
  await register(mine, key)
  // A session opened with the owner's token is not enough.
  const thief = await signIn((await openLink()).link)
  expect(await refusal(register(thief, createAuthenticator()))).toMatchObject({
    code: 'passkey_required',
  })
  await assert(mine, key)
  await register(mine, createAuthenticator())
})

test('I6 a challenge from before the first passkey cannot add a second', async () => {
  const { mine, signIn, openLink, register, challenge, passkeys, answering } = await setupPasskeys()
  const thief = await signIn((await openLink()).link)
  const early = await challenge(thief, 'register')
  await register(mine, createAuthenticator())
  const given = { ...createAuthenticator().create(early), name: 'x' }
  expect(await refusal(passkeys.register(given, await answering(thief)))).toMatchObject({
    code: 'passkey_required',
  })
})

test("I10 the owner's token cannot add or use a passkey", async () => {
  const { identity, passkeys, mine, register } = await setupPasskeys()
  const caller = await identity.identify({ ...atApi, bearer: owner })
  expect(caller).not.toHaveProperty('assured')
  for (const purpose of ['register', 'assert'] as const)
    expect(await refusal(passkeys.challenge(caller, purpose))).toMatchObject({
      code: 'session_required',
      hint: expect.stringContaining('cowork open'),
    })
  expect(await refusal(passkeys.challenge(await mine.caller(), 'assert'))).toMatchObject({
    code: 'not_found',
  })
  await register(mine, createAuthenticator())
  expect(await identity.identify({ ...atApi, bearer: owner })).not.toHaveProperty('assured')
})

test('I6 people manage their own passkeys, owners all, and removal ends confirmations', async () => {
  const { mine, join, register, assert, passkeys, identity, db, entries } = await setupPasskeys()
  const use = createUse(identity, db)
  const anna = await join('Anna', 'viewer')
  const [ours, hers] = [createAuthenticator(), createAuthenticator({ algorithm: -8 })]
  await register(mine, ours)
  await register(anna, hers)
  await assert(anna, hers)
  const by = await anna.caller()
  const list = async (caller = by) =>
    (
      (await use('cowork_list_passkeys', {}, caller)) as { passkeys: { id: string }[] }
    ).passkeys.map(({ id }) => id)
  expect(await list()).toEqual([hers.id])
  expect((await list(await mine.caller())).toSorted()).toEqual([ours.id, hers.id].toSorted())
  const others = use('cowork_remove_passkey', { id: ours.id }, by)
  expect(await refusal(others)).toMatchObject({ code: 'not_found' })
  await use('cowork_remove_passkey', { id: hers.id }, by)
  expect(await anna.caller()).not.toHaveProperty('assured')
  expect(await passkeys.has('anna')).toBe(false)
  expect(entries.at(-1)).toMatchObject({
    type: 'passkey.removed',
    subject: hers.id,
    data: { person: 'anna', name: 'Laptop' },
  })
})

test('I6 removing a person removes their passkeys', async () => {
  const { join, register, use, passkeys } = await setupPasskeys()
  await register(await join('Anna'), createAuthenticator())
  await use('cowork_remove_person', { person: 'anna' })
  expect(await passkeys.has('anna')).toBe(false)
})

test('I6 with a public URL the passkey belongs to its host', async () => {
  const parts = await setupPeople({ consoleUrl: () => 'https://desk.example:8443/cowork' })
  const { link } = await parts.openLink()
  expect(link).toMatch(/^https:\/\/desk\.example:8443\/cowork\/#code=/)
  const mine = await parts.signIn(link)
  const caller = await mine.caller()
  const { passkeys } = parts.identity
  const elsewhere = { origin: 'https://desk.example', rpId: 'desk.example' }
  for (const [site, reason] of [
    [elsewhere, 'wrong_origin'],
    [{ origin: 'https://desk.example:8443', rpId: 'localhost' }, 'wrong_rp'],
  ] as const) {
    const { challenge, rpId } = await passkeys.challenge(caller, 'register')
    expect(rpId).toBe('desk.example')
    const given = { ...createAuthenticator(site).create(challenge), name: 'x' }
    expect(await refusal(passkeys.register(given, { caller, address }))).toMatchObject({
      details: { reason },
    })
  }
  const { challenge } = await passkeys.challenge(caller, 'register')
  const key = createAuthenticator({ origin: 'https://desk.example:8443', rpId: 'desk.example' })
  await passkeys.register({ ...key.create(challenge), name: 'x' }, { caller, address })
})
