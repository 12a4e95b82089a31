import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#base/log.ts'
import { openTestLedger } from '../../test/ledger.ts'
import { openTestOps } from '../../test/ops.ts'
import { createHistoryStore } from './history-store.ts'
import { createIndexFile } from './index-file.ts'
import { fileMigrations } from './migrations.ts'

test('F6 the index is written although changes keep coming', async () => {
  const { db, close } = await openTestLedger(fileMigrations)
  const files = openTestOps()
  let written = 0
  const index = createIndexFile({
    db,
    store: createHistoryStore(db.dialect, 'here'),
    worker: {
      ask(op, ask, more) {
        if (op === 'writeInternalFile') written++
        return files.run(op, ask, more?.body)
      },
    },
    workspace: files.workspace,
    now: Date.now,
    log: silentLog,
    debounceMs: 100,
  })
  onTestFinished(async () => {
    await index.close()
    await files.close()
    await close()
  })
  for (let n = 0; n < 200 && written === 0; n++) {
    index.markChanged()
    await sleep(10)
  }
  expect(written).toBe(1)
})
