import { expect, inject, onTestFinished, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import { anna, decide } from '../../test/acts.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { movableClock, openGoverned, postgresStore } from '../../test/governed.ts'

const by = { id: 'call-1', caller: anna }

test('I4 A2 no call starts at one daemon for an agent revoked at the other at that moment', async () => {
  const { tool, runs } = actingTool('crm', 'write')
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const start = async () => {
    const opened = await openGoverned({}, { tools: [tool] }, store, movableClock())
    onTestFinished(opened.close)
    return opened
  }
  const [here, there] = [await start(), await start()]
  let refused = 0
  for (let round = 0; round < 20; round++) {
    const id = `agent-${round}`
    const { token } = await here.db.transact((tx) => here.identity.addAgent(tx, { id }, by))
    await there.identity.refresh()
    const caller = await there.identity.identify({ door: 'mcp', address: 'x', bearer: token })
    const args = { path: `/${round}` }
    const approval = String((await there.call('crm_write', args, caller))['approval_id'])
    await decide(here, [approval])
    const [answer] = await Promise.all([
      there.resume('crm_write', args, caller, approval),
      here.db.transact((tx) => here.identity.revokeAgent(tx, { id }, by)),
    ])
    expect(['done', 'refused']).toContain(answer.status)
    if (answer.status === 'refused') refused++
    const entries = await here.entries(['call.started', 'agent.revoked'])
    const started = entries.findIndex(
      ({ type, actor }) => type === 'call.started' && actor.id === id,
    )
    const revoked = entries.findIndex(
      ({ type, subject }) => type === 'agent.revoked' && subject === id,
    )
    expect(revoked).toBeGreaterThan(started)
    expect(started >= 0).toBe(answer.status === 'done')
  }
  expect(runs).toHaveLength(20 - refused)
})
