// One daemon of N7 as a process of its own: proposes while it is told to, and says how often it did.
import { ratePerSecond } from '../harness.ts'
import { openLonePostgres } from '../peers/lone-postgres.ts'
import { createProposals, proposalMigrations, sharedCounter } from './proposal.ts'
import { openRecorded } from './store.ts'

export type Order = {
  readonly ms: number
  readonly way: 'batched' | 'lone'
  /** Every proposal also raises the one counter that all daemons share. */
  readonly contended?: boolean
}
export type Done = { readonly rate: number; readonly proposed: number; readonly shared: number }

const inFlight = 64

const [state = '', url = '', name = ''] = process.argv.slice(2)
const store = await openRecorded({ state, url }, proposalMigrations)
const lone = openLonePostgres(url, store.sealer)
const { begin, propose, raise } = createProposals('postgres')
// An agent talks to one daemon, so that daemons meet at the head of the ledger only.
const agents = Array.from({ length: 8 }, (_, i) => `${name}-${i}`)
await store.db.transact(async (tx) => {
  for (const agent of [sharedCounter, ...agents]) await begin(tx, agent)
})

process.on('message', ({ ms, way, contended = false }: Order) => {
  let proposed = 0
  const { transact } = way === 'batched' ? store.db : lone
  const act = async (caller: number) => {
    proposed++
    const body = propose(agents[caller % agents.length] ?? '')
    await transact(async (tx) => {
      if (contended) await raise(tx, sharedCounter)
      await body(tx)
    })
  }
  void ratePerSecond(ms, inFlight, act).then((rate) =>
    process.send?.({ rate, proposed, shared: contended ? proposed : 0 } satisfies Done),
  )
})
process.on('disconnect', () => void Promise.all([store.close(), lone.close()]))
process.send?.('ready')
