import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadStream, WriteStream } from 'node:tty'
import { isDeepStrictEqual } from 'node:util'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { listGrantChoices, readByIds, readDetail, readItems } from '../approvals.ts'
import type { ApprovalItem, ApprovalFilter } from '../approvals.ts'
import type { Client } from '../client.ts'
import type { ExitCode } from '../exit.ts'
import { editableJson, parseJson } from '../output.ts'
import type { Message } from '../screen/keys.ts'
import { openScreen } from '../screen/terminal.ts'
import { reduce } from './reduce.ts'
import { formatHandoffResult } from './detail.ts'
import { initialState } from './state.ts'
import type { Effect, Event, Outcome } from './state.ts'
import { render } from './view.ts'

/** Opens the text in the person's editor, in a private folder, and returns the result. */
async function editInEditor(text: string, env: Environment): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-edit-'))
  try {
    const file = join(folder, 'change.json')
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    const code = await edit(file, env)
    if (code !== 0)
      throw new CoworkError(
        'editor_failed',
        `The editor exited with ${code}. No decision was made.`,
      )
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function edit(file: string, env: Environment): Promise<number> {
  const isWindows = process.platform === 'win32'
  const editor = env['VISUAL'] || env['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // Through a shell: the variable may contain options.
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: 'inherit', env, shell: true })
    : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

export type InboxOptions = {
  readonly client: Client
  readonly query: ApprovalFilter
  readonly env: Environment
  /** Throws unless a person is at the terminal (I10). */
  readonly person: () => void
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

/** Shows the inbox screen (K6). */
export async function showInbox(options: InboxOptions): Promise<ExitCode> {
  const { client, query, env, person, stdin, stdout } = options
  const screen = openScreen({ stdin, stdout, start: initialState, reduce, render, perform })
  /** Keeps edited text that is not valid JSON. */
  const drafts = new Map<string, string>()
  let isLoading = false

  async function perform(effect: Effect): Promise<void> {
    if (effect.act === 'leave') return screen.leave(effect.isInterrupted)
    if (effect.act === 'load') return load()
    return screen.dispatchResult(() => runEffect(effect))
  }

  async function runEffect(effect: Extract<Effect, { id: string }>): Promise<Event> {
    const { id } = effect
    if (effect.act === 'decide' || effect.act === 'resolve') {
      const outcome = await (effect.act === 'decide' ? decide(effect) : resolveHandoff(effect))
      return { event: 'decided', outcome, now: Date.now() }
    }
    if (effect.act === 'read') return { event: 'read', detail: await readDetail(client, id) }
    if (effect.act === 'undo') return { event: 'undone', outcome: await undo(id) }
    return { policies, access, edit }[effect.act](id)
  }

  async function load(): Promise<void> {
    if (isLoading) return
    isLoading = true
    const { filter, limit } = screen.state()
    try {
      const q = filter === '' ? undefined : filter
      const { items, counts, next } = await readItems(client, { ...query, q }, limit)
      // The daemon counts by kind only; with another filter, use the number of loaded items.
      const isFiltered = q !== undefined || query.agent !== undefined || query.domain !== undefined
      const total = isFiltered ? items.length : (counts[query.kind ?? 'all'] ?? 0)
      const isMore = next !== null
      const shown = await withSelected(items)
      screen.dispatch({ event: 'loaded', items: shown, total, isMore, filter })
    } catch (error) {
      screen.reportOutage(error)
    } finally {
      isLoading = false
    }
    const current = screen.state()
    if (current.filter !== filter || current.limit !== limit) await load()
  }

  /** Keeps the selected item in the list after someone else has decided it. */
  async function withSelected(items: readonly ApprovalItem[]): Promise<readonly ApprovalItem[]> {
    const { selected, decided } = screen.state()
    if (selected === undefined || decided.has(selected)) return items
    if (items.some(({ id }) => id === selected)) return items
    const selectedItems = await readByIds(client, [selected])
    return [...items, ...selectedItems].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  }

  async function decide(effect: Extract<Effect, { act: 'decide' }>): Promise<Outcome> {
    person()
    const { id, decision, reason, override, change, grant, skip } = effect
    const { outcomes } = await client.call('cowork_decide', {
      approval_ids: [id],
      decision,
      hold: true,
      reason,
      override: override && { ...override, description: reason },
      change,
      policy_id: effect.policy,
      acknowledge_policy: effect.acknowledge,
      grant,
      skip,
    })
    return getSingleOutcome(outcomes)
  }

  async function resolveHandoff(effect: Extract<Effect, { act: 'resolve' }>): Promise<Outcome> {
    person()
    const { id, resolution, instructions } = effect
    const answer = { handoff_id: id, resolution, instructions }
    const result = await client.call('cowork_resolve_handoff', answer)
    return { id, status: 'resolved', note: formatHandoffResult(result) }
  }

  async function undo(id: string): Promise<Outcome> {
    person()
    return getSingleOutcome((await client.call('cowork_undo', { approval_ids: [id] })).outcomes)
  }

  async function policies(id: string): Promise<Event> {
    const listed = await client.call('cowork_list_policies')
    const options = listed.policies.map((policy) => policy.id)
    return options.length > 0
      ? { event: 'policies', id, options }
      : messageEvent('No policies exist: add one to the configuration.', 'bad')
  }

  async function access(id: string): Promise<Event> {
    const options = listGrantChoices(await readDetail(client, id))
    return options.length > 0
      ? { event: 'access', id, options }
      : messageEvent('The path cannot be granted: reject the request.', 'bad')
  }

  async function edit(id: string): Promise<Event> {
    const { change } = await readDetail(client, id)
    const before = drafts.get(id) ?? editableJson(change)
    const text = await screen.lend(() => editInEditor(before, env))
    drafts.set(id, text)
    const after = parseJson(text)
    if (after === undefined)
      return messageEvent('Invalid JSON: no decision was made. Press e to continue editing.', 'bad')
    drafts.delete(id)
    return isDeepStrictEqual(after, change)
      ? messageEvent('No changes: no decision was made.', 'calm')
      : { event: 'edited', id, change: after }
  }

  return screen.run()
}

function getSingleOutcome([outcome]: readonly Outcome[]): Outcome {
  if (!outcome) throw new Error('no outcome in the response of the daemon')
  return outcome
}

const messageEvent = (text: string, tone: Message['tone']): Event => ({
  event: 'message',
  message: { text, tone },
})
