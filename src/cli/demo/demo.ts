import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import { readItems } from '../approvals.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { pluralize, formatRows } from '../output.ts'
import { formatLevel, findNormalClass, readStanding, formatStanding } from '../trust.ts'
import { addReviewer, answerChecks, createDemoAgent, removeReviewer } from './agent.ts'
import {
  seededRandom,
  demoHandoff,
  roles,
  pickScene,
  runFileScene,
  runWorkScene,
} from './scenes.ts'
import type { Role, Scene } from './scenes.ts'
import { installDemoPolicies } from './policies.ts'
import type { DemoPolicies } from './policies.ts'

type Options = {
  readonly proposals?: number | undefined
  readonly pace?: number | undefined
  readonly clean?: boolean | undefined
}
type ProposalResult = ToolResults['cowork_propose']
const zeroCounts = {
  acted: 0,
  slipped: 0,
  /** Autonomous actions that the reviewer checked, and those that were wrong. */
  checked: 0,
  found: 0,
  blocked: 0,
  approved: 0,
  overridden: 0,
  left: 0,
}
type RoleRun = typeof zeroCounts & { readonly role: Role }

/** The last proposals are left for the person. */
const undecidedCount = 3
/** Spot checks are opened shortly after the action. */
const checkInterval = 3
const seed = 1858
const maxChecks = 100

/**
 * Runs three agents of different quality on the daemon (K7). A demo reviewer approves correct proposals, overrides
 * wrong ones and decides spot checks, only in the demo's domains.
 */
export async function demo(context: Context, { proposals = 45, pace = 40, clean }: Options) {
  if (clean) return (await import('./clean.ts')).cleanDemo(context)
  const { out } = context
  const person = createClient(context)
  const { auth } = await person.call('cowork_status')
  const played: RoleRun[] = []
  const tokens = auth === 'closed' ? await registerAgents(person) : new Map<string, string>()
  const policies = await installDemoPolicies(person)
  const reviewer = await addReviewer(context, person)
  let asking: string | undefined
  try {
    const plays = roles.map((role, at) => {
      const seen: RoleRun = { role, ...zeroCounts }
      played.push(seen)
      return { seen, agent: createDemoAgent(context.paths, role.id, tokens.get(role.id)), at }
    })
    const isRight = new Map<string, boolean>()
    const chances = plays.map(({ at }) => seededRandom(seed + at))
    for (let turn = 0; turn < proposals; turn++) {
      if (turn === Math.floor(proposals / 2)) await policies.tighten()
      for (const { seen, agent, at } of plays) {
        const scene = pickScene(seen.role, chances[at] ?? Math.random)
        const { isRight: right, ...asked } = scene
        const answer = await agent.call('cowork_propose', { domain: seen.role.domain, ...asked })
        if (answer.isError) {
          if (!isBlockedByRule(answer.structuredContent))
            throw blockedError(seen.role, answer.structuredContent)
          seen.blocked++
          continue
        }
        const proposed = answer.structuredContent as unknown as ProposalResult
        isRight.set(proposed.proposal_id, right)
        await review(reviewer, seen, scene, proposed, turn >= proposals - undecidedCount)
        if (proposed.mode === 'act')
          await agent.call('cowork_log', {
            domain: seen.role.domain,
            action: scene.action,
            target: scene.target,
            proposal_id: proposed.proposal_id,
          })
      }
      const isChecking = turn % checkInterval === 0 && turn < proposals - undecidedCount
      for (const { seen } of isChecking && reviewer ? plays : [])
        if (reviewer && seen.acted > 0) await answerChecks(reviewer, seen.role.id, isRight, seen)
      out.progress(`${turn + 1} of ${proposals} proposals each …`)
      await sleep(pace)
    }
    // The flawless agent writes files and requests access that only a person can grant.
    const [careful, steady] = plays
    if (careful && (await runFileScene(careful.agent))) asking = careful.seen.role.id
    if (careful && steady) await runWorkScene(careful.agent, steady.agent)
    // The least reliable agent gives up at the end and requests a takeover.
    const last = plays.at(-1)
    await last?.agent.call('cowork_handoff', { domain: last.seen.role.domain, ...demoHandoff })
  } finally {
    for (const line of formatPolicies(policies.brought())) out.note(line)
    if (reviewer) await removeReviewer(person)
    // Revoking an agent would close its pending request.
    for (const id of tokens.keys())
      if (id !== asking) await person.call('cowork_revoke_agent', { id })
  }
  await printSummary(context, person, played, policies.brought(), asking !== undefined)
}

/** Approves correct proposals and overrides wrong ones; without a reviewer all stay pending. */
async function review(
  person: Client | undefined,
  seen: RoleRun,
  { isRight, action }: Scene,
  { proposal_id: id, mode }: ProposalResult,
  isLast: boolean,
): Promise<void> {
  if (mode === 'act') {
    seen.acted++
    if (!isRight) seen.slipped++
    return
  }
  if (isLast || !person) return void seen.left++
  if (isRight) {
    if (await tryApprove(person, id)) seen.approved++
    else seen.left++
    return
  }
  const { id: agent, domain } = seen.role
  await person.call('cowork_override', {
    agent_id: agent,
    domain,
    proposal_id: id,
    action_description: action,
    override_type: 'agent_wrong',
    description: 'This was not what the customer asked for.',
  })
  seen.overridden++
}

/** Returns false if approval needs the person's passkey; the proposal then stays pending. */
async function tryApprove(person: Client, id: string): Promise<boolean> {
  try {
    await person.call('cowork_approve', { proposal_id: id })
    return true
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'passkey_required') return false
    throw error
  }
}

/** Adds the agents with tokens when authentication is on; rotates the token of an existing agent. */
async function registerAgents(person: Client): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  for (const { id } of roles) {
    const { token } = await person.call('cowork_add_agent', { id }).catch((error: unknown) => {
      if (!(error instanceof CoworkError) || error.code !== 'agent_exists') throw error
      return person.call('cowork_rotate_agent', { id, overlap_minutes: 0 })
    })
    tokens.set(id, token)
  }
  return tokens
}

async function printSummary(
  { out }: Context,
  person: Client,
  played: readonly RoleRun[],
  brought: DemoPolicies,
  asksForFiles: boolean,
): Promise<void> {
  const agents = await Promise.all(
    played.map(async (seen) => {
      const { id, domain } = seen.role
      const asked = { agent_id: id, domain }
      const [{ trust_level, mode }, standing] = await Promise.all([
        person.call('cowork_check_trust', asked),
        readStanding(person, asked),
      ])
      const { level, reason, next, kinds } = findNormalClass(standing)
      const owed = kinds
        .filter(({ credit }) => credit < 0)
        .map(({ kind, to_go }) => ({ kind, to_go }))
      const { role, ...counted } = seen
      const stands = { level, reason, ...(next !== undefined && { next }), owed }
      return { agent: id, about: role.about, trust: trust_level, mode, ...stands, ...counted }
    }),
  )
  const policies = 'left' in brought ? null : { ...brought.saved, from: brought.before }
  out.data({ agents, policies }, () => [
    ...formatRows(agents, '', {
      AGENT: ({ agent }) => agent,
      IS: ({ about }) => about,
      TRUST: ({ trust }) => trust.toFixed(2),
      APPROVED: ({ approved }) => approved,
      OVERRIDDEN: ({ overridden }) => overridden,
      BLOCKED: (row) => row.blocked,
      AUTONOMOUS: ({ acted }) => acted,
      CHECKED: ({ checked }) => checked,
      WRONG: ({ slipped }) => slipped,
    }),
    '',
    ...agents.map(
      (row) => `${row.agent}: ${formatLevel(row)}, ${formatStanding(row)}.${formatOwed(row.owed)}`,
    ),
    '',
    'After 25 correct actions, 5 of that kind, an agent acts autonomously; half of its first ten are spot-checked.',
  ])
  const left = agents.reduce((sum, row) => sum + row.left, 0)
  const checks = await readItems(person, { status: 'pending', kind: 'spot_check' }, maxChecks)
  const waiting = checks.items.filter(({ domain }) =>
    played.some(({ role }) => role.domain === domain),
  )
  const unread = waiting.length === 0 ? '' : `, ${pluralize(waiting.length, 'check')}`
  out.note(
    `${left} proposals${unread}${asksForFiles ? ', an access request' : ''} and a handoff are pending. Run \`cowork inbox\` or \`cowork open inbox\`.`,
  )
  out.note('Run `cowork demo --clean` to remove the demo; reports exclude it.')
}

/** Kinds of action with errors: the agent needs approval for them at any level. */
const formatOwed = (owed: readonly { kind: string; to_go: number }[]): string =>
  owed
    .map(({ kind, to_go: more }) => ` Errors in ${kind}: ${more} more correct actions needed.`)
    .join('')

function formatPolicies(brought: DemoPolicies): string[] {
  if ('left' in brought) return [brought.left]
  const { saved, before } = brought
  return [
    `Saved policies as version ${saved.version} (number ${saved.number}), for the demo's agents only. See \`cowork open policies\`.`,
    `To restore the previous policies: \`cowork policy versions ${before.slice(0, 8)} > before.yaml\`, then \`cowork policy save --file before.yaml --note "without the demo"\`.`,
  ]
}

/** True if a rule blocked the proposal; without a mapping the demo cannot run at all. */
const isBlockedByRule = (refusal: Readonly<Record<string, unknown>> | undefined) =>
  refusal?.['code'] === 'policy_blocked' && refusal['mapping_found'] === true

const blockedError = (
  { id, domain }: Role,
  refusal: Readonly<Record<string, unknown>> | undefined,
) =>
  new CoworkError(
    'demo_blocked',
    `${id} cannot propose in ${domain}: ${typeof refusal?.['message'] === 'string' ? refusal['message'] : 'refused'}`,
    {
      hint: 'Your policies do not map the demo domains, or the hourly cap is reached. Use a separate state directory: `cowork --state /tmp/demo up -d`.',
    },
  )
