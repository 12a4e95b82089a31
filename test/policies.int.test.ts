import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'

const body = (constraint: string) => ({
  policies: [{ id: 'crm', rules: [{ field: 'note', constraint }] }],
  mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'crm' }],
})

let settings: Record<string, unknown>
let here: TestApp
let there: TestApp
beforeAll(async () => {
  const store = { 'storage.url': await createTestDatabase(inject('postgresUrl')) }
  here = await startTestApp(store)
  // Daemons on one store share a signing key.
  settings = { ...store, 'ledger.key_path': join(here.state, 'ledger.key') }
  there = await startTestApp(settings)
})
afterAll(async () => {
  await there.close()
  await here.close()
})

const asked = async (app: TestApp, tool: string, args: Record<string, unknown> = {}) =>
  ((await (await app.call(tool, args)).json()) as { output: Record<string, unknown> }).output
const listed = (app: TestApp) => asked(app, 'cowork_list_policies')

test('Y6 a version saved in one daemon becomes active in the other without a restart', async () => {
  const { version: before } = await listed(there)
  const { version } = await asked(here, 'cowork_save_policies', { body: body('readonly') })
  expect(version).not.toBe(before)
  await expect.poll(async () => (await listed(there))['version']).toBe(version)
  const change = { agent_id: 'sales', domain: 'crm', proposed_change: { note: 'x' } }
  expect(await asked(there, 'cowork_validate_policy', change)).toMatchObject({
    valid: false,
    hard_stop: true,
    policy_id: 'crm',
  })
})

test('Y6 a daemon that starts later has the last saved version', async () => {
  await asked(there, 'cowork_save_policies', { body: body('high_risk'), note: 'softer' })
  const later = await startTestApp(settings)
  const { active } = await listed(later)
  await later.close()
  expect(active).toMatchObject({ source: 'saved', by: 'owner', note: 'softer' })
})
