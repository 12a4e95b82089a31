import { expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import { createClient } from './speakers.ts'

test('RA13 W17 viewing the history is a read, appending is a write', async () => {
  const app = await startTestApp()
  const owner = createClient(app, app.owner)
  await owner.call('worksync_register_project', { project: 'web' })
  await owner.call('worksync_history', { project: 'web', summary: 'Began' })
  const { token } = await owner.call('cowork_add_agent', { id: 'reader', scopes: ['read:*'] })
  const reader = createClient(app, String(token))
  expect(await reader.call('worksync_history', { project: 'web' })).toMatchObject({
    history: [{ summary: 'Began' }],
    total: 1,
  })
  expect(await reader.call('worksync_history', { project: 'web', summary: 'x' })).toMatchObject({
    code: 'scope_missing',
  })
  const asked = '/api/ledger?actor=reader&type=call.done'
  await expect
    .poll(async () => (await owner.ask(asked)).body)
    .toMatchObject({ entries: [{ data: { tool: 'worksync_history', effect: 'read' } }] })
  await app.close()
})
