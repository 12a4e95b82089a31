import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { readDetail, readItems } from '../approvals.ts'
import { createClient, notRunningError, send } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

type Result = {
  readonly isError?: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

/** Creates an agent of the demo: it calls over MCP, without special rights. */
export function createDemoAgent(paths: StatePaths, id: string, token: string | undefined) {
  async function call(tool: string, args: object): Promise<Result> {
    const daemon = findRunningDaemon(paths)
    if (!daemon) throw notRunningError(paths)
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
    throw new CoworkError('demo_failed', `Refused ${id}: ${error?.message ?? text}`, {
      hint: 'Run `cowork doctor` to find the cause.',
    })
  }
  return { call }
}

/** The reviewer who decides in the demo, so that nothing is decided in the name of the owner (K7). */
const reviewerName = 'Demo reviewer'

/** Adds the reviewer and signs in as them; returns undefined if this needs the owner's passkey. */
export async function addReviewer(context: Context, owner: Client): Promise<Client | undefined> {
  try {
    const invitation = { name: reviewerName, role: 'reviewer' }
    const { link } = await owner.call('cowork_invite_person', invitation)
    const code = link.slice(link.lastIndexOf('=') + 1)
    const { token } = await owner.post('/api/sessions', { code })
    return createClient(context, {}, token)
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'passkey_required') return undefined
    throw error
  }
}

/** Removes the reviewer with all sessions and invitations. */
export async function removeReviewer(owner: Client): Promise<number> {
  const { people, invitations } = await owner.call('cowork_list_people')
  const open = invitations.filter(({ name }) => name === reviewerName)
  const active = people.filter(({ name, status }) => name === reviewerName && status === 'active')
  for (const { id } of open) await owner.call('cowork_withdraw_invitation', { invitation: id })
  for (const { id } of active) await owner.call('cowork_remove_person', { person: id })
  return open.length + active.length
}

export type CheckCounts = { checked: number; found: number }

const maxChecks = 50

/**
 * Decides the pending spot checks of an agent with knowledge of the correct answers: opens each, confirms it or
 * marks it as wrong. An error triggers a look-back, whose checks are decided too (T14).
 */
export async function answerChecks(
  reviewer: Client,
  agent: string,
  isRight: ReadonlyMap<string, boolean>,
  checked: CheckCounts,
): Promise<void> {
  const filter = { status: 'pending', kind: 'spot_check', agent } as const
  const { items } = await readItems(reviewer, filter, maxChecks)
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
