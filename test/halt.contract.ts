import { describe, expect, test } from 'vitest'
import { newId } from '../src/base/ids.ts'
import { agentCaller, personCaller } from './governance.ts'
import { governed } from './governed.ts'
import type { Store } from './governed.ts'
import { createHalts } from '../src/approvals/halt.ts'

/** Guarantees of a halt, on both engines. */
export function haltContract(name: string, openStore: () => Promise<Store>) {
  describe(`halts on ${name}`, () => {
    async function begin() {
      const { db, now } = await governed({}, {}, await openStore())
      const halts = createHalts(db, now)
      const call = {
        id: newId(),
        caller: personCaller(),
        signal: new AbortController().signal,
        progress: () => undefined,
        addDetails: () => undefined,
      }
      return {
        db,
        now,
        covering: () => halts.findCovering(agentCaller('sales'), { domain: 'crm' }),
        set: () => db.transact((tx) => halts.set(tx, call, 'agent:sales', 'wait')),
        lift: () => db.transact((tx) => halts.lift(tx, call, 'agent:sales')),
      }
    }

    test('A9 a call after a halt is refused, and one after resume is not, despite concurrent reads', async () => {
      const { covering, set, lift } = await begin()
      for (let round = 0; round < 20; round++) {
        const before = Array.from({ length: 10 }, covering)
        await set()
        const busy = covering()
        const after = await Promise.all([covering(), covering(), busy])
        for (const found of after) expect(found).toMatchObject({ by: 'anna' })
        const during = Array.from({ length: 10 }, covering)
        await lift()
        expect(await covering()).toBeUndefined()
        await Promise.all([...before, ...during])
      }
    })

    test('A9 RC3 one agent is halted by name, and an unknown name is refused', async () => {
      const { call } = await governed({}, {}, await openStore())
      await call('cowork_log', { domain: 'crm', action: 'look', target: 'x' })
      const halt = (scope: string) => call('cowork_halt', { scope }, personCaller())
      expect(await halt('agent:nobody')).toMatchObject({ fault: 'unknown_agent' })
      expect(await halt('agent:sales')).toMatchObject({ scope: 'agent:sales' })
      expect(await halt('domain:crm')).toMatchObject({ scope: 'domain:crm' })
    })

    test('RS4 calls queued for their transaction during a halt do not run', async () => {
      const { call, entries } = await governed(
        { authority: { volume_cap: 0 } },
        {},
        await openStore(),
      )
      const log = () =>
        call('cowork_log', { domain: 'crm', action: 'update_deal', target: newId() })
      await log()
      const calls = Array.from({ length: 300 }, log)
      // The calls have passed the checks by now.
      await new Promise((turn) => setImmediate(turn))
      const halted = await call('cowork_halt', { scope: 'all' }, personCaller())
      expect(halted).toMatchObject({ scope: 'all' })
      const answers = await Promise.all(calls)
      expect(answers.filter(({ fault }) => fault === 'halted').length).toBeGreaterThan(0)
      const all = await entries()
      const at = all.findIndex(({ type }) => type === 'halt.set')
      const after = all
        .slice(at + 1)
        .filter(({ actor, outcome }) => actor.kind === 'agent' && outcome !== 'halted')
      expect(after).toEqual([])
      expect(await log()).toMatchObject({ fault: 'halted' })
    })

    test('A9 a rolled back halt has no effect, and the next committed one has', async () => {
      const { covering, set, lift } = await begin()
      await expect(lift()).rejects.toMatchObject({ code: 'not_found' })
      expect(await covering()).toBeUndefined()
      await set()
      expect(await covering()).toMatchObject({ by: 'anna' })
      await lift()
      expect(await covering()).toBeUndefined()
    })

    test('A9 reads that overlap a halt cache no stale state', async () => {
      const { covering, set, lift } = await begin()
      for (let round = 0; round < 50; round++) {
        // Reads start at every step of the transaction.
        const setting = (round % 2 === 0 ? set : lift)()
        const looks: Promise<unknown>[] = []
        for (let step = 0; step < 20; step++) {
          looks.push(covering())
          await Promise.resolve()
        }
        await setting
        const found = await covering()
        if (round % 2 === 0) expect(found).toMatchObject({ by: 'anna' })
        else expect(found).toBeUndefined()
        await Promise.all(looks)
      }
    })
  })
}
