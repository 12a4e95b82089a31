// One daemon of N7 in a separate process: proposes on request and reports the count.
import { ratePerSecond } from '../harness.ts'
import { openLonePostgres } from '../peers/lone-postgres.ts'
import { createProposing, proposalMigrations } from './proposal.ts'
import { openRecorded } from './store.ts'

export type Order = {
  readonly ms: number
  readonly way: 'batched' | 'lone' | 'contended'
}
export type Done = { readonly rate: number; readonly proposed: number; readonly approved: number }

const inFlight = 64
/** The agent that all daemons serve, to contend for one row. */
const sharedAgent = 'shared'

const [state = '', url = '', name = ''] = process.argv.slice(2)
const store = await openRecorded({ state, url }, proposalMigrations)
const lone = openLonePostgres(url, store.sealer)
const batched = await createProposing(store)
const alone = await createProposing(store, { transact: lone.transact })
// An agent talks to one daemon, so that daemons contend only for the head of the ledger.
const toAgentId = (caller: number) => `${name}-${caller % 8}`

process.on('message', ({ ms, way }: Order) => {
  let proposed = 0
  let approved = 0
  const act = {
    batched: (caller: number) => batched.propose(toAgentId(caller)),
    lone: (caller: number) => alone.propose(toAgentId(caller)),
    /** Approving reads trust and writes the increased value: a lost update shows. */
    async contended() {
      await batched.approve(await batched.propose(sharedAgent))
      approved++
    },
  }[way]
  const counted = (caller: number) => {
    proposed++
    return act(caller)
  }
  void ratePerSecond(ms, inFlight, counted).then((rate) =>
    process.send?.({ rate, proposed, approved } satisfies Done),
  )
})
process.on('disconnect', () => {
  void Promise.all([batched.close(), alone.close()]).then(() =>
    Promise.all([store.close(), lone.close()]),
  )
})
process.send?.('ready')
