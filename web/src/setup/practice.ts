import { ApiError, call } from '../api/client.ts'
import type { Item } from '../inbox/approval.ts'
import { findItem, isPending, onQueueChange, readItems } from '../inbox/queue.ts'
import { live } from '../api/live.ts'
import { joinPath, baseName, parentPath } from '../files/path.ts'
import { isFolder } from '../files/file.ts'
import { createStore } from '../api/store.ts'
import { toastProblem } from '../shared/toast.ts'
import { suggestedFolders } from './setup.ts'

/** The practice agent connects over MCP like every other agent. */
export const practiceAgent = 'practice-agent'

/** The requests of the round, kept when the person leaves the page. */
export type PracticeRound = { readonly ids: readonly string[]; readonly isOver: boolean }

const storageKey = 'cowork.practice'

/** Restores a round after a reload: its requests are pending and its access must end. */
function restoreRound(): PracticeRound | undefined {
  const ids = localStorage.getItem(storageKey)?.split(' ')
  return ids && { ids, isOver: false }
}

export const practiceRound = createStore<PracticeRound | undefined>(restoreRound())

export const isOpen = (item: Item): boolean => isPending(item) && !item.held

/** Ends the round when its last request is decided, on any page. */
export function startPractice(): void {
  const checkRound = () => {
    const now = practiceRound.get()
    if (!now || now.isOver) return
    const asked = now.ids.map(findItem)
    if (asked.every((item) => item && !isOpen(item))) endRound(now).catch(toastProblem)
  }
  onQueueChange(checkRound)
  practiceRound.subscribe(checkRound)
  // Requests decided while no page was open are not in the queue.
  const verifyRound = async () => {
    const now = practiceRound.get()
    if (live.state.get() !== 'live' || !now || now.isOver) return
    if ((await readItems(now.ids)).length > 0) return
    // The round belongs to another daemon.
    localStorage.removeItem(storageKey)
    practiceRound.set(undefined)
  }
  live.state.subscribe(() => void verifyRound().catch(() => undefined))
}

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

type Result = {
  readonly isError?: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

/** Calls a tool over MCP, with a token if authentication is on. */
async function callAs(token: string | undefined, tool: string, args: object): Promise<Result> {
  const response = await fetch('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': tool,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: tool,
        arguments: args,
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientCapabilities`]: {},
          [`${meta}/clientInfo`]: { name: practiceAgent, version: '1' },
        },
      },
    }),
  })
  const { result, error } = (await response.json()) as {
    result?: Result
    error?: { message: string }
  }
  if (!result)
    throw new ApiError({
      code: 'practice_refused',
      message: `The practice agent was refused: ${error?.message ?? response.status}.`,
      hint: 'Run `cowork doctor` to find the cause.',
    })
  return result
}

/** Starts a round: the agent proposes a change and requests access to a folder. */
export async function startPracticeRound(): Promise<void> {
  await cleanUp()
  const { auth } = await call('cowork_status')
  const token =
    auth === 'closed' ? (await call('cowork_add_agent', { id: practiceAgent })).token : undefined
  const ids = [await propose(token), await requestFolder(token)]
  const asked = ids.filter((id) => id !== undefined)
  localStorage.setItem(storageKey, asked.join(' '))
  practiceRound.set({ ids: asked, isOver: false })
}

async function propose(token: string | undefined): Promise<string | undefined> {
  const { isError = false, structuredContent: output } = await callAs(token, 'cowork_propose', {
    domain: 'practice',
    action: 'rename',
    target: 'meeting.md',
    proposed_change: { name: 'Weekly meeting.md' },
    confidence: 0.8,
    reasoning: 'The name does not say which meeting it was.',
  })
  if (isError)
    throw new ApiError({
      code: toText(output?.['code']) ?? 'practice_refused',
      message: toText(output?.['message']) ?? 'The practice agent cannot propose here.',
      hint: 'Active policies block the practice agent. Run `cowork demo` with a separate state directory instead.',
    })
  return toText(output?.['proposal_id'])
}

/** Requests the first folder without access; undefined if every folder is granted or blocked. */
async function requestFolder(token: string | undefined): Promise<string | undefined> {
  for (const path of await listCandidateFolders()) {
    const { isError = false, structuredContent: output } = await callAs(token, 'request_grant', {
      path,
      permission: 'read',
      reason: 'To see which files belong together.',
    })
    if (!isError && output?.['status'] === 'pending') return toText(output['request_id'])
  }
  return undefined
}

async function listCandidateFolders(): Promise<string[]> {
  const [home, { workspace_path: workspace }] = await Promise.all([
    call('browse_folder', { path: '~' }),
    call('get_workspace_info'),
  ])
  const folders = home.entries.filter(isFolder).map(({ name }) => baseName(name))
  return [
    ...suggestedFolders
      .filter((name) => folders.includes(name))
      .map((name) => joinPath(home.path, name)),
    parentPath(workspace),
  ]
}

const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** Ends the round, and removes its grants and the agent. */
async function endRound(now: PracticeRound): Promise<void> {
  practiceRound.set({ ...now, isOver: true })
  await cleanUp()
  localStorage.removeItem(storageKey)
}

async function cleanUp(): Promise<void> {
  const [{ grants }, { agents }] = await Promise.all([
    call('list_grants'),
    call('cowork_list_agents'),
  ])
  for (const { id, agent } of grants)
    if (agent === practiceAgent) await call('revoke_grant', { grant_id: id })
  if (agents.some(({ id, status }) => id === practiceAgent && status === 'active'))
    await call('cowork_revoke_agent', { id: practiceAgent })
}
