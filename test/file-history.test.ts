import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { silentLog } from '#base/log.ts'
import { defineTool } from '#base/tool.ts'
import { createToolRegistry, createDispatch } from '#dispatch'
import { createHistoryStore } from '../src/files/history-store.ts'
import { createHistory } from '../src/files/history.ts'
import { fileMigrations } from '../src/files/migrations.ts'
import { governanceSchema, testGovernance } from './governance.ts'
import { openTestLedger } from './ledger.ts'

const sales: Caller = { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] }

test('RH2, TR3 records the undo version with the end of the call, independent of the output object', async () => {
  const { db, ledger, entries, close } = await openTestLedger([
    ...governanceSchema,
    ...fileMigrations,
  ])
  onTestFinished(close)
  const store = createHistoryStore(db.dialect, 'here')
  const history = createHistory(store, Date.now, 3)
  const output = z.object({ path: z.string() })
  const write = defineTool({
    name: 'write',
    title: 'Write',
    description: 'For tests',
    toolset: 'files',
    effect: 'write',
    by: 'anyone',
    input: z.object({ path: z.string() }),
    output,
    async run({ path }, call) {
      const before = { sha256: 'a'.repeat(64), size: 1, mode: 0o644 }
      const change = { operation: 'write', made: path, replaced: { path, before } }
      // A different object from the one in the change.
      const validated = output.parse(structuredClone({ path }))
      return { output: validated, finalize: history.recordChange(call, change) }
    },
  })
  const dispatch = createDispatch({
    registry: createToolRegistry([write]),
    checks: [],
    approvals: testGovernance(db).approvals,
    isOpen: () => false,
    ledger,
    now: Date.now,
    log: silentLog,
  })
  const answer = await dispatch({ tool: 'write', arguments: { path: '/w/a' }, caller: sales })
  expect(answer).toMatchObject({ status: 'done', output: { path: '/w/a' } })
  const [version] = await store.listAllVersions(db)
  expect(version).toMatchObject({ path: '/w/a', call: answer.call, operation: 'write' })
  const done = (await entries()).find(({ type }) => type === 'call.done')
  expect(done?.data).toMatchObject({ replaced: version?.id })
})
