import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import { readItems } from '../approvals.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { pluralize, tableOf } from '../output.ts'
import { levelName, normalOf, standingIn, standingText } from '../trust.ts'
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
type Proposed = ToolResults['cowork_propose']
const nothing = {
  acted: 0,
  slipped: 0,
  /** Of those done alone, how many the reviewer looked at, and how many of these were wrong. */
  checked: 0,
  found: 0,
  blocked: 0,
  approved: 0,
  overridden: 0,
  left: 0,
}
type Played = typeof nothing & { readonly role: Role }

/** The last ones are left for the person to decide. */
const leftOver = 3
/** A check is opened a moment after the action. */
const checkEvery = 3
const seed = 1858
const mostShown = 100

/**
 * Plays three agents of different quality in fast-forward, on the running daemon (K7). A reviewer of the demo's own
 * approves what is right, overrides what is wrong and answers checks, in the demo's own domains only.
 */
export async function demo(context: Context, { proposals = 45, pace = 40, clean }: Options) {
  if (clean) return (await import('./clean.ts')).cleanDemo(context)
  const { out } = context
  const person = createClient(context)
  const { auth } = await person.call('cowork_status')
  const played: Played[] = []
  const tokens = auth === 'closed' ? await enrol(person) : new Map<string, string>()
  const policies = await installDemoPolicies(person)
  const reviewer = await addReviewer(context, person)
  let asking: string | undefined
  try {
    const plays = roles.map((role, at) => {
      const seen: Played = { role, ...nothing }
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
          if (!isForbidden(answer.structuredContent))
            throw blocked(seen.role, answer.structuredContent)
          seen.blocked++
          continue
        }
        const proposed = answer.structuredContent as unknown as Proposed
        isRight.set(proposed.proposal_id, right)
        await review(reviewer, seen, scene, proposed, turn >= proposals - leftOver)
        if (proposed.mode === 'act')
          await agent.call('cowork_log', {
            domain: seen.role.domain,
            action: scene.action,
            target: scene.target,
            proposal_id: proposed.proposal_id,
          })
      }
      const isChecking = turn % checkEvery === 0 && turn < proposals - leftOver
      for (const { seen } of isChecking && reviewer ? plays : [])
        if (reviewer && seen.acted > 0) await answerChecks(reviewer, seen.role.id, isRight, seen)
      out.progress(`${turn + 1} of ${proposals} proposals each …`)
      await sleep(pace)
    }
    // The one that is never wrong keeps files, and asks for some that only a person can open.
    const [careful, steady] = plays
    if (careful && (await runFileScene(careful.agent))) asking = careful.seen.role.id
    if (careful && steady) await runWorkScene(careful.agent, steady.agent)
    // The one that errs most gives up last, and asks a person to take over.
    const last = plays.at(-1)
    await last?.agent.call('cowork_handoff', { domain: last.seen.role.domain, ...demoHandoff })
  } finally {
    for (const line of policyLines(policies.brought())) out.note(line)
    if (reviewer) await removeReviewer(person)
    // The request of one that waits would go with its agent.
    for (const id of tokens.keys())
      if (id !== asking) await person.call('cowork_revoke_agent', { id })
  }
  await tell(context, person, played, policies.brought(), asking !== undefined)
}

/** Approves what is right and overrides what is wrong; without a reviewer all of it waits for the person. */
async function review(
  person: Client | undefined,
  seen: Played,
  { isRight, action }: Scene,
  { proposal_id: id, mode }: Proposed,
  isLast: boolean,
): Promise<void> {
  if (mode === 'act') {
    seen.acted++
    if (!isRight) seen.slipped++
    return
  }
  if (isLast || !person) return void seen.left++
  if (isRight) {
    if (await approves(person, id)) seen.approved++
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

/** False where it takes the person's passkey: then it waits for them. */
async function approves(person: Client, id: string): Promise<boolean> {
  try {
    await person.call('cowork_approve', { proposal_id: id })
    return true
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'passkey_required') return false
    throw error
  }
}

/** In closed mode every agent needs a token. One that is left from another time gets a new one. */
async function enrol(person: Client): Promise<Map<string, string>> {
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

async function tell(
  { out }: Context,
  person: Client,
  played: readonly Played[],
  brought: DemoPolicies,
  asksForFiles: boolean,
): Promise<void> {
  const agents = await Promise.all(
    played.map(async (seen) => {
      const { id, domain } = seen.role
      const asked = { agent_id: id, domain }
      const [{ trust_level, mode }, standing] = await Promise.all([
        person.call('cowork_check_trust', asked),
        standingIn(person, asked),
      ])
      const { level, reason, next, kinds } = normalOf(standing)
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
    ...tableOf(agents, '', {
      AGENT: ({ agent }) => agent,
      IS: ({ about }) => about,
      TRUST: ({ trust }) => trust.toFixed(2),
      APPROVED: ({ approved }) => approved,
      OVERRIDDEN: ({ overridden }) => overridden,
      BLOCKED: (row) => row.blocked,
      ALONE: ({ acted }) => acted,
      CHECKED: ({ checked }) => checked,
      WRONG: ({ slipped }) => slipped,
    }),
    '',
    ...agents.map(
      (row) => `${row.agent}: ${levelName(row)}, ${standingText(row)}.${owedText(row.owed)}`,
    ),
    '',
    'After 25 right actions, 5 of that kind, an agent acts alone; half of its first ten are checked afterwards.',
  ])
  const left = agents.reduce((sum, row) => sum + row.left, 0)
  const checks = await readItems(person, { status: 'pending', kind: 'spot_check' }, mostShown)
  const waiting = checks.items.filter(({ domain }) =>
    played.some(({ role }) => role.domain === domain),
  )
  const unread = waiting.length === 0 ? '' : `, ${pluralize(waiting.length, 'check')}`
  out.note(
    `${left} proposals${unread}${asksForFiles ? ', a request for your files' : ''} and a handoff wait for you: \`cowork inbox\`, or \`cowork open inbox\`.`,
  )
  out.note('`cowork demo --clean` ends all that the demo made; reports leave it out.')
}

/** Kinds of action in which it was wrong: there it asks, whatever its level. */
const owedText = (owed: readonly { kind: string; to_go: number }[]): string =>
  owed
    .map(({ kind, to_go: more }) => ` It was wrong in ${kind}: ${more} more correct actions there.`)
    .join('')

function policyLines(brought: DemoPolicies): string[] {
  if ('left' in brought) return [brought.left]
  const { saved, before } = brought
  return [
    `Policies were saved, as version ${saved.version} (number ${saved.number}). They bind the demo's agents alone: \`cowork open policies\`.`,
    `To go back to what was before: \`cowork policy versions ${before.slice(0, 8)} > before.yaml\`, then \`cowork policy save --file before.yaml --note "without the demo"\`.`,
  ]
}

/** By a rule, as in every day's work; without a mapping there is nothing to be had at all. */
const isForbidden = (said: Readonly<Record<string, unknown>> | undefined) =>
  said?.['code'] === 'policy_blocked' && said['mapping_found'] === true

const blocked = ({ id, domain }: Role, said: Readonly<Record<string, unknown>> | undefined) =>
  new CoworkError(
    'demo_blocked',
    `${id} may not propose in ${domain}: ${typeof said?.['message'] === 'string' ? said['message'] : 'it was refused'}`,
    {
      hint: 'Where your own policies map nobody to its domains, or the hourly cap is reached, the demo has no room: run it on a state folder of its own, as in `cowork --state /tmp/demo up -d`.',
    },
  )
