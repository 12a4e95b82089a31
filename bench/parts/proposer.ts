// One daemon of N7 as a process of its own: proposes while it is told to, and says how often it did.
import { ratePerSecond } from '../harness.ts'
import { openLonePostgres } from '../peers/lone-postgres.ts'
import { createProposals, proposalMigrations } from './proposal.ts'
import { openRecorded } from './store.ts'

export type Order = { readonly ms: number; readonly way: 'batched' | 'lone' }
export type Done = { readonly rate: number; readonly proposed: number; readonly shared: number }

const inFlight = 64
/** How often a proposal also raises the counter that all daemons share. */
const sharedEvery = 64
const sharedCounter = 'shared'

const [state = '', url = '', name = ''] = process.argv.slice(2)
const store = await openRecorded({ state, url }, proposalMigrations)
const lone = openLonePostgres(url, store.sealer)
const { begin, propose, raise } = createProposals('postgres')
// An agent talks to one daemon, so daemons meet at the head of the ledger and at the shared counter.
const agents = Array.from({ length: 8 }, (_, i) => `${name}-${i}`)
await store.db.transact(async (tx) => {
  for (const agent of [...agents, sharedCounter]) await begin(tx, agent)
})

process.on('message', ({ ms, way }: Order) => {
  let proposed = 0
  let shared = 0
  const { transact } = way === 'batched' ? store.db : lone
  const act = async (caller: number) => {
    const meets = proposed++ % sharedEvery === 0
    if (meets) shared++
    const body = propose(agents[caller % agents.length] ?? '')
    await transact(async (tx) => {
      if (meets) await raise(tx, sharedCounter)
      await body(tx)
    })
  }
  void ratePerSecond(ms, inFlight, act).then((rate) => process.send?.({ rate, proposed, shared }))
})
process.on('disconnect', () => void Promise.all([store.close(), lone.close()]))
process.send?.('ready')
