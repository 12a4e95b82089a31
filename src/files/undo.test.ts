import { expect, onTestFinished, test } from 'vitest'
import { openTestLedger } from '../../test/ledger.ts'
import { createUndo } from './history.ts'

test('T14 TR1 an action counts as undone whichever person undid it, and not when the agent did', async () => {
  const { ledger, db, entries, close } = await openTestLedger()
  onTestFinished(close)
  const { isDone } = createUndo('sqlite', 'here')
  const restore = (kind: 'agent' | 'human', id: string) =>
    ledger.record({
      type: 'call.done',
      actor: { kind, id },
      subject: 'trash-1',
      data: { tool: 'trash_restore', trash: 'trash-1' },
    })
  await ledger.record({
    type: 'call.done',
    actor: { kind: 'agent', id: 'writer' },
    subject: '/w/a.md',
    data: { tool: 'delete_file', trash: 'trash-1' },
  })
  const [deleted] = await entries()
  if (!deleted) throw new Error('nothing is recorded')
  await restore('agent', 'writer')
  expect(await isDone(db, deleted)).toBe(false)
  await restore('human', 'ben')
  expect(await isDone(db, deleted)).toBe(true)
})
