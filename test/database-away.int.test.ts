import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { startTestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'
import { newFolder } from './files.ts'
import { clientOf } from './speakers.ts'

/** The same for everyone in it: every connection breaks off, and no other is taken until it is back. */
async function databaseThatEnds(url: string) {
  const admin = new pg.Client({ connectionString: `${inject('postgresUrl')}/postgres` })
  await admin.connect()
  onTestFinished(() => admin.end())
  const name = new URL(url).pathname.slice(1)
  return {
    async goAway() {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
      const all = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'
      await admin.query(all, [name])
    },
    comeBack: () => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
  }
}

async function openDaemons() {
  const url = await createTestDatabase(inject('postgresUrl'))
  const said: { message: string; noun?: string }[] = []
  const write = (line: string) => void said.push(JSON.parse(line) as (typeof said)[number])
  const here = await startTestApp({ 'storage.url': url })
  onTestFinished(() => here.close())
  // Daemons of one store sign with one key.
  const shared = { 'storage.url': url, 'ledger.key_path': join(here.state, 'ledger.key') }
  const there = await startTestApp(shared, {
    log: createLog({ level: 'error', json: true, write }),
  })
  onTestFinished(() => there.close())
  const lost = () =>
    said
      .filter(({ message }) => message.startsWith('what other daemons change'))
      .map((line) => line.noun)
  return { here, there, lost, database: await databaseThatEnds(url) }
}

test('J31 GR4 I4 Y6 after the database was away, what one daemon changes is followed by the other again', async () => {
  const { here, there, lost, database } = await openDaemons()
  const owner = clientOf(here, here.owner)
  const ownerThere = clientOf(there, there.owner)
  const path = join(newFolder(), 'a.txt')
  writeFileSync(path, 'hello')
  const { token } = await owner.call('cowork_add_agent', { id: 'reader' })
  const agent = clientOf(there, String(token))
  const grant = { path, permission: 'read', agent: 'reader' }
  const given = await ownerThere.call('add_grant', grant)
  const read = () => agent.call('read_file', { path })
  await expect.poll(read).toMatchObject({ content: 'hello' })

  let isAway = true
  const traffic = [owner, agent].map(async (client) => {
    while (isAway) await client.call('list_files', { path: '' })
  })
  await database.goAway()
  await expect.poll(lost).toEqual(expect.arrayContaining(['agent.', 'grant.', 'policy.']))
  await database.comeBack()
  const inWorkspace = () => owner.call('list_files', { path: '' })
  await expect.poll(inWorkspace).not.toHaveProperty('code')
  await expect.poll(read).toMatchObject({ content: 'hello' })
  isAway = false
  await Promise.all(traffic)
  expect(lost()).toHaveLength(3)

  const policies = {
    policies: [{ id: 'crm', rules: [{ field: 'note', constraint: 'readonly' }] }],
    mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'crm' }],
  }
  const { version } = await owner.call('cowork_save_policies', { body: policies })
  expect(version).toBeDefined()
  const inForce = async () => (await ownerThere.call('cowork_list_policies'))['version']
  await expect.poll(inForce).toBe(version)
  await owner.call('revoke_grant', { grant_id: given['id'] })
  await expect.poll(read).toMatchObject({ code: 'no_grant' })
  await owner.call('cowork_revoke_agent', { id: 'reader' })
  await expect.poll(read).toMatchObject({ code: 'auth_error' })
})
