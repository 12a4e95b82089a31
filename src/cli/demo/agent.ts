import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { readDetail, readItems } from '../approvals.ts'
import { createClient, notRunning, send } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

type Result = {
  readonly isError?: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

/** An agent of the demo: it calls over MCP like every other, and has no powers of its own. */
export function createDemoAgent(paths: StatePaths, id: string, token: string | undefined) {
  async function call(tool: string, args: object): Promise<Result> {
    const daemon = findRunningDaemon(paths)
    if (!daemon) throw notRunning(paths)
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: tool,
        arguments: { agent_id: id, ...args },
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientCapabilities`]: {},
          [`${meta}/clientInfo`]: { name: 'cowork demo', version: '1' },
        },
      },
    }
    const headers = {
      host: `localhost:${daemon.port}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': tool,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const { text } = await send(paths.apiSocket, '/mcp', headers, body)
    const { result, error } = JSON.parse(text) as {
      result?: Result
      error?: { message: string }
    }
    if (result) return result
    throw new CoworkError('demo_failed', `${id} was refused: ${error?.message ?? text}`, {
      hint: '`cowork doctor` looks for what is wrong.',
    })
  }
  return { call }
}

/** The person who decides in the demo: nothing is decided in the name of whoever runs it (K7). */
const reviewerName = 'Demo reviewer'

/** Adds the reviewer and signs in as them; undefined where that takes the owner's passkey. */
export async function addReviewer(context: Context, owner: Client): Promise<Client | undefined> {
  try {
    const invited = { name: reviewerName, role: 'reviewer' }
    const { link } = await owner.call('cowork_invite_person', invited)
    const code = link.slice(link.lastIndexOf('=') + 1)
    const { token } = await owner.post('/api/sessions', { code })
    return createClient(context, {}, token)
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'passkey_required') return undefined
    throw error
  }
}

/** Removes the reviewer: sessions and invitations end, so nobody signs in as them afterwards. */
export async function removeReviewer(owner: Client): Promise<number> {
  const { people, invitations } = await owner.call('cowork_list_people')
  const open = invitations.filter(({ name }) => name === reviewerName)
  const active = people.filter(({ name, status }) => name === reviewerName && status === 'active')
  for (const { id } of open) await owner.call('cowork_withdraw_invitation', { invitation: id })
  for (const { id } of active) await owner.call('cowork_remove_person', { person: id })
  return open.length + active.length
}

export type Checked = { checked: number; found: number }

const mostChecks = 50

/**
 * Answers what waits of the checks of an agent, as a person would who knows what was right: opens each, confirms it
 * or marks it as wrong. A mistake brings a look-back, which is answered like the rest (T14).
 */
export async function answerChecks(
  reviewer: Client,
  agent: string,
  isRight: ReadonlyMap<string, boolean>,
  checked: Checked,
): Promise<void> {
  const wanted = { status: 'pending', kind: 'spot_check', agent } as const
  const { items } = await readItems(reviewer, wanted, mostChecks)
  for (const { id } of items) {
    const { check } = await readDetail(reviewer, id)
    const right = isRight.get(check?.proposal ?? '')
    if (right === undefined) continue
    await reviewer.call('cowork_decide', { approval_ids: [id], ...(right ? confirmed : wrong) })
    checked.checked++
    if (!right) checked.found++
  }
}

const confirmed = { decision: 'approve' }
const wrong = {
  decision: 'reject',
  override: { type: 'agent_wrong', description: 'This was not what the customer asked for.' },
}
