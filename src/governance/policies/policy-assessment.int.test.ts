import { expect, inject, test } from 'vitest'
import { toActor } from '#base/caller.ts'
import { propose, sales, support } from '../../../test/acts.ts'
import { createMigratedDatabase } from '../../../test/databases.ts'
import { governed, postgresStore } from '../../../test/governed.ts'

test('R2 PostgreSQL checks sources like SQLite', async () => {
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const system = await governed({}, {}, store)
  const sha256 = 'a'.repeat(64)
  for (const by of [sales, support])
    await system.ledger.record({
      type: 'call.done',
      actor: toActor(by),
      domain: 'files',
      subject: `of-${by.id}.md`,
      ids: { call: `call-of-${by.id}` },
      data: { tool: 'read_file', effect: 'read', sha256 },
    })
  const seqs = (await system.entries(['call.done'])).map(({ seq }) => seq)
  const sources = (id: string, seq: number | undefined) => [
    `ledger:${seq}`,
    `mcp:files/read_file#call-of-${id}`,
    `file:of-${id}.md#${sha256}`,
  ]
  const [own, theirs] = [sources('sales', seqs[0]), sources('support', seqs[1])]
  const criteria = Object.fromEntries(
    [...own, ...theirs].map((source, at) => [`c${at}`, { source }]),
  )
  expect(await propose(system, { reasoning_schema: { criteria } })).toMatchObject({
    reasoning_valid: false,
    unverified_sources: theirs,
  })
})
