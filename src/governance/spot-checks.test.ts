import { expect, test } from 'vitest'
import { proposed, propose, trusted } from '../../test/acts.ts'
import { checksContract, listChecks } from '../../test/checks.ts'
import { governed, sqliteStore } from '../../test/governed.ts'

checksContract(async () => sqliteStore())

test('T14 a check that cannot be opened does not delay others', async () => {
  const system = await governed({}, { draw: () => 0 })
  await trusted(system, 0.9)
  const id = await proposed(system, { target: 'refused' })
  const refuse = `CREATE TRIGGER refused BEFORE INSERT ON spot_check WHEN NEW.act = '${id}' BEGIN SELECT RAISE(ABORT, 'refused'); END`
  await system.db.transact(async (tx) => void (await tx.run({ sql: refuse, parameters: [] })))
  await propose(system, { target: 'other' })
  expect((await listChecks(system)).map(({ target }) => target)).toEqual(['other'])
})
