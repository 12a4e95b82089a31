import { expect, inject, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/databases.ts'
import { migrate } from '#base/db/migrate.ts'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createRecord, refusal } from '../../../test/identity/identity.fixture.ts'
import { identityMigrations } from '../migrations.ts'
import { createAuthenticator } from '../../../test/identity/passkeys/passkeys.fixture.ts'
import { peopleContract } from '../../../test/identity/people/people.contract.ts'
import { setupPeople } from '../../../test/identity/people/people.fixture.ts'

async function open(url: string) {
  const db = await openPostgres({ url, sealer: createRecord().sealer, log: silentLog })
  onTestFinished(() => db.close())
  await migrate(db, identityMigrations, 0)
  return { db }
}
const newDatabase = () => createTestDatabase(inject('postgresUrl'))

peopleContract('postgres', async () => open(await newDatabase()))

test('SV7 links work once and sessions end immediately across daemons', async () => {
  const url = await newDatabase()
  const one = await setupPeople(await open(url))
  const other = await setupPeople(await open(url))
  const { link } = await one.openLink()
  const came = await Promise.allSettled([one.signIn(link), other.signIn(link)])
  const [signed, ...more] = came.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  expect(more).toEqual([])
  const bearer = signed?.token ?? ''
  const at = { door: 'api', address: '127.0.0.1', bearer } as const
  for (const { identity } of [one, other])
    expect(await identity.identify(at)).toMatchObject({ id: 'owner' })
  await other.use('cowork_revoke_session', { session: signed?.session })
  for (const { identity } of [one, other])
    expect(await refusal(identity.identify(at))).toMatchObject({ code: 'auth_error' })
  expect((await one.people()).people).toHaveLength(1)
})

test('SV7 passkeys work on PostgreSQL', async () => {
  const { identity, openLink, signIn } = await setupPeople(await open(await newDatabase()))
  const { passkeys } = identity
  const mine = await signIn((await openLink()).link)
  const caller = await mine.caller()
  const answering = { caller, address: '127.0.0.1' }
  const key = createAuthenticator({ algorithm: -257 })
  const { challenge } = await passkeys.challenge(caller, 'register')
  await passkeys.register({ ...key.create(challenge), name: 'Laptop' }, answering)
  const shown = async () =>
    passkeys.assert(key.get((await passkeys.challenge(caller, 'assert')).challenge), answering)
  await shown()
  await shown()
  key.rewind(2)
  expect(await refusal(shown())).toMatchObject({ details: { reason: 'counter_back' } })
  expect(await passkeys.list(caller)).toMatchObject([{ algorithm: -257, signCount: 3 }])
})
