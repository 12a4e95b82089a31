// An agent's proposal as it arrives at the endpoint: `cowork_propose` through dispatch with the checks of app.ts, trust
// and policy, the approval it opens and its entries. Only HTTP is missing.
import { approvalMigrations, createHalts } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { createClockMonitor, systemClock } from '#base/clock.ts'
import { configSchema } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import { createLog } from '#base/log.ts'
import {
  checkPasskey,
  checkCallerKind,
  checkHalt,
  checkRole,
  checkScope,
  createToolRegistry,
  createDispatch,
} from '#dispatch'
import { createGovernance, governanceMigrations, governanceTools } from '#governance'
import { createIdentity, identityMigrations } from '#identity'
import { createRedactor } from '#ledger'
import type { openRecorded } from './store.ts'
import { guardedToolsets } from '../../src/app/modules.ts'

export const proposalMigrations = [
  ...identityMigrations,
  ...approvalMigrations,
  ...governanceMigrations,
]

const domain = 'crm.deals'

type Store = Awaited<ReturnType<typeof openRecorded>>
export type Settings = {
  /** Replaces the group commit of the store. */
  readonly transact?: Db['transact']
  /** Proposals per hour of one agent in one domain; unlimited if absent. */
  readonly cap?: number
  readonly rules?: { readonly policies: object[]; readonly mappings: object[] }
}

const log = createLog({ level: 'error', write: (line) => process.stderr.write(line), json: false })

const common = {
  session: 'bench',
  verified: true,
  scopes: ['*'],
  client: { name: 'bench', version: '1', transport: 'http' },
} as const
/** Every endpoint passes one; no caller disconnects here. */
const { signal } = new AbortController()
const person: Caller = { ...common, kind: 'human', id: 'owner', role: 'owner' }
const callers = new Map<string, Caller>()
function agentCalled(id: string): Caller {
  const caller = callers.get(id) ?? { ...common, kind: 'agent', id }
  callers.set(id, caller)
  return caller
}

/** Known agents and people, as after authentication. */
export async function createProposing(store: Store, settings: Settings = {}) {
  const { transact = store.db.transact, cap = 0, rules = {} } = settings
  const db: Db = { ...store.db, transact }
  const ledger = { ...store.ledger, transact }
  const config = configSchema.parse({
    agents: [{ id: 'ada', token_hash: '0'.repeat(64) }],
    authority: { volume_cap: cap, ...(cap === 0 && { agent_volume_cap: 0 }) },
    ...rules,
  })
  const parts = { db, config, now: systemClock, log }
  const consoleUrl = () => 'http://localhost:7080'
  const identity = await createIdentity({
    ...parts,
    ownerToken: 'bench',
    consoleUrl,
    appendDeferred: ledger.appendDeferred,
  })
  const halts = createHalts(db, systemClock)
  const governance = createGovernance({
    guardedToolsets,
    ...parts,
    agents: identity,
    people: identity.people,
    reviewUrl: (approval) => `${consoleUrl()}/inbox/${approval}`,
    protection: {
      redact: createRedactor({ secrets: [], patterns: [] }),
      key: ledger.derive('pending arguments'),
    },
    onErase: ledger.onErase,
    drawKeys: { draw: ledger.derive('spot checks'), lot: ledger.derive('look-backs') },
  })
  const dispatch = createDispatch({
    registry: createToolRegistry(
      governanceTools({ governance, ledger, identity, halts, version: 'bench' }),
    ),
    checks: [
      checkCallerKind(() => `${consoleUrl()}/inbox`),
      checkRole,
      checkScope,
      checkPasskey(identity.passkeys, governance.approvals),
      checkHalt(halts),
      governance.judgeCall,
    ],
    approvals: governance.approvals,
    isOpen: () => identity.mode() === 'open',
    clockBehind: createClockMonitor(systemClock, 0),
    ledger,
    now: systemClock,
    log,
  })

  async function call<O>(tool: string, input: object, caller: Caller): Promise<O> {
    const answer = await dispatch({ tool, arguments: input, caller, signal })
    if (answer.status !== 'done')
      throw new Error(`${tool} returned ${answer.status}: ${answer.code}, ${answer.message}`)
    return answer.output as O
  }

  return {
    /** Returns the id. */
    async propose(agent: string): Promise<string> {
      const { proposal_id: id } = await call<{ proposal_id: string }>(
        'cowork_propose',
        {
          agent_id: agent,
          domain,
          action: 'update_deal',
          target: 'deal_12345',
          proposed_change: { deal_stage: 'closed_won', amount: 1200 },
          confidence: 0.9,
          reasoning: 'The customer signed on Monday; the contract is in the deal folder.',
        },
        agentCalled(agent),
      )
      return id
    },
    /** A person approves, which raises the agent's trust. */
    approve: (id: string) => call('cowork_approve', { proposal_id: id }, person),
    close: () => governance.close(),
  }
}

/** Twenty policies of five rules, and two hundred mappings; the matching one is last. */
export const manyRules = {
  policies: Array.from({ length: 20 }, (_, place) => ({
    id: `policy-${place}`,
    description: 'Fields of deals that can change, and by how much.',
    rules: [
      { field: 'amount', constraint: 'value_range', min: 0, max: 10_000 + place },
      { field: 'deal_stage', constraint: 'enum', values: ['new', 'qualified', 'closed_won'] },
      { field: 'discount_*', constraint: 'readonly' },
      { field: 'email', constraint: 'regex', pattern: '^[^@ ]+@[^@ ]+$' },
      { field: 'contract.*', constraint: 'high_risk' },
    ],
  })),
  mappings: [
    ...Array.from({ length: 199 }, (_, place) => ({
      agent_id: `team-${place}`,
      domain: `crm.region-${place % 40}`,
      policy_id: `policy-${place % 20}`,
    })),
    { agent_id: 'agent-*', domain: 'crm.*', policy_id: 'policy-7' },
  ],
}
