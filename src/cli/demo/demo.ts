import { setTimeout as sleep } from 'node:timers/promises'
import { CoworkError } from '#base/errors.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { table } from '../output.ts'
import { createDemoAgent } from './agent.ts'
import { chanceFrom, handedOver, roles, sceneOf } from './scenes.ts'
import type { Role, Scene } from './scenes.ts'

type Options = { readonly proposals?: number | undefined; readonly pace?: number | undefined }
type Status = { readonly auth: 'open' | 'closed' }
type Proposed = { readonly proposal_id: string; readonly mode: 'act' | 'suggest' | 'escalate' }
type Played = {
  readonly role: Role
  acted: number
  slipped: number
  approved: number
  overridden: number
  left: number
}
type Standing = { readonly trust_level: number; readonly mode: string }

/** The last ones are left for the person to decide. */
const leftOver = 3
const seed = 10

/**
 * Three agents of different quality at work in fast-forward, on the running daemon (K7). Who runs it plays the
 * reviewer: right proposals are approved and wrong ones overridden, in the demo's own domains only.
 */
export async function demo(context: Context, { proposals = 45, pace = 40 }: Options) {
  const { out } = context
  const person = createClient(context)
  const { auth } = await person.call<Status>('cowork_status')
  const progress = out.progress()
  const played: Played[] = []
  const tokens = auth === 'closed' ? await enrol(person) : new Map<string, string>()
  try {
    const plays = roles.map((role, at) => {
      const seen: Played = { role, acted: 0, slipped: 0, approved: 0, overridden: 0, left: 0 }
      played.push(seen)
      return { seen, agent: createDemoAgent(context.paths, role.id, tokens.get(role.id)), at }
    })
    const chances = plays.map(({ at }) => chanceFrom(seed + at))
    for (let turn = 0; turn < proposals; turn++) {
      for (const { seen, agent, at } of plays) {
        const scene = sceneOf(seen.role, chances[at] ?? Math.random)
        const { isRight: _, ...asked } = scene
        const answer = await agent.call('cowork_propose', { domain: seen.role.domain, ...asked })
        if (answer.isError) throw blocked(seen.role, answer.structuredContent)
        const proposed = answer.structuredContent as unknown as Proposed
        await review(person, seen, scene, proposed, turn >= proposals - leftOver)
        if (proposed.mode === 'act')
          await agent.call('cowork_log', {
            domain: seen.role.domain,
            action: scene.action,
            target: scene.target,
            proposal_id: proposed.proposal_id,
          })
      }
      progress.show(`${turn + 1} of ${proposals} proposals each …`)
      await sleep(pace)
    }
    // The one that errs most gives up last, and asks a person to take over.
    const last = plays.at(-1)
    await last?.agent.call('cowork_handoff', { domain: last.seen.role.domain, ...handedOver })
  } finally {
    progress.end()
    await dismiss(person, tokens)
  }
  await tell(context, person, played)
}

/** What a careful reviewer does: approve what is right, say what is wrong. */
async function review(
  person: Client,
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
  if (isLast) return void seen.left++
  if (isRight) {
    await person.call('cowork_approve', { proposal_id: id })
    seen.approved++
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

/** In closed mode every agent needs a token; these are revoked when the curtain falls. */
async function enrol(person: Client): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  for (const { id } of roles) {
    const { token } = await person.call<{ token: string }>('cowork_add_agent', { id })
    tokens.set(id, token)
  }
  return tokens
}

async function dismiss(person: Client, tokens: ReadonlyMap<string, string>): Promise<void> {
  for (const id of tokens.keys()) await person.call('cowork_revoke_agent', { id })
}

async function tell({ out }: Context, person: Client, played: readonly Played[]): Promise<void> {
  const agents = await Promise.all(
    played.map(async (seen) => {
      const { id, domain } = seen.role
      const asked = { agent_id: id, domain }
      const { trust_level, mode } = await person.call<Standing>('cowork_check_trust', asked)
      const { role, ...counted } = seen
      return { agent: id, about: role.about, trust: trust_level, mode, ...counted }
    }),
  )
  out.data({ agents }, () =>
    table(
      ['AGENT', 'IS', 'TRUST', 'MODE', 'APPROVED', 'OVERRIDDEN', 'ACTED ALONE', 'WRONG ALONE'],
      agents.map((row) => [
        row.agent,
        row.about,
        row.trust.toFixed(2),
        row.mode,
        row.approved,
        row.overridden,
        row.acted,
        row.slipped,
      ]),
    ),
  )
  const left = agents.reduce((sum, row) => sum + row.left, 0)
  out.note(
    `${left} proposals and a handoff wait for you: \`cowork inbox\`, or \`cowork open inbox\`.`,
  )
}

const blocked = ({ id, domain }: Role, said: Readonly<Record<string, unknown>> | undefined) =>
  new CoworkError(
    'demo_blocked',
    `${id} may not propose in ${domain}: ${typeof said?.['message'] === 'string' ? said['message'] : 'it was refused'}`,
    {
      hint: 'Where policies are mapped, or the hourly cap is reached, the demo has no room: run it on a state folder of its own, as in `cowork --state /tmp/demo up -d`.',
    },
  )
