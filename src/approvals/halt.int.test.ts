import { expect, inject, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { createTestDatabase } from '../../test/databases.ts'
import { agentCaller, personCaller } from '../../test/governance.ts'
import { governed, postgresStore } from '../../test/governed.ts'
import { createHalts } from './halt.ts'

test('A9 a call that comes after a halt meets it, and one after its end does not, whatever looks are under way', async () => {
  const store = postgresStore(await createTestDatabase(inject('postgresUrl')))
  const { db, now } = await governed({}, {}, store)
  const halts = createHalts(db, now)
  const { signal } = new AbortController()
  const call = {
    id: newId(),
    caller: personCaller(),
    signal,
    progress: () => undefined,
    tell: () => undefined,
  }
  const covering = () => halts.covering(agentCaller('sales'), { domain: 'crm' })

  for (let round = 0; round < 20; round++) {
    const before = Array.from({ length: 10 }, covering)
    await db.transact((tx) => halts.set(tx, call, 'agent:sales', 'wait'))
    const busy = covering()
    const after = await Promise.all([covering(), covering(), busy])
    for (const found of after) expect(found).toMatchObject({ by: 'anna' })
    const during = Array.from({ length: 10 }, covering)
    await db.transact((tx) => halts.lift(tx, call, 'agent:sales'))
    expect(await covering()).toBeUndefined()
    await Promise.all([...before, ...during])
  }
})
