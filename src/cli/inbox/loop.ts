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

/** What the person's own editor makes of a text; nobody else can read it meanwhile. */
async function editInEditor(text: string, env: Environment): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-edit-'))
  try {
    const file = join(folder, 'change.json')
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    const code = await edit(file, env)
    if (code !== 0)
      throw new CoworkError('editor_failed', `The editor ended with ${code}: nothing was decided.`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function edit(file: string, env: Environment): Promise<number> {
  const isWindows = process.platform === 'win32'
  const editor = env['VISUAL'] || env['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // By a shell, since the variable may hold options too.
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: 'inherit', env, shell: true })
    : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

export type InboxOptions = {
  readonly client: Client
  readonly wanted: ApprovalFilter
  readonly env: Environment
  /** Throws where no person decides (I10). */
  readonly person: () => void
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

/** The inbox on a terminal (K6). */
export async function showInbox(options: InboxOptions): Promise<ExitCode> {
  const { client, wanted, env, person, stdin, stdout } = options
  const screen = openScreen({ stdin, stdout, start: initialState, reduce, render, perform })
  /** What a person wrote that was no JSON is not lost. */
  const drafts = new Map<string, string>()
  let isLoading = false

  async function perform(effect: Effect): Promise<void> {
    if (effect.act === 'leave') return screen.leave(effect.isInterrupted)
    if (effect.act === 'load') return load()
    return screen.telling(() => eventOf(effect))
  }

  async function eventOf(effect: Extract<Effect, { id: string }>): Promise<Event> {
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
      const { items, counts, next } = await readItems(client, { ...wanted, q }, limit)
      // The daemon counts by kind; of what is narrowed further we know what we have.
      const isNarrow = q !== undefined || wanted.agent !== undefined || wanted.domain !== undefined
      const total = isNarrow ? items.length : (counts[wanted.kind ?? 'all'] ?? 0)
      const isMore = next !== null
      const shown = await withSelected(items)
      screen.happened({ event: 'loaded', items: shown, total, isMore, filter })
    } catch (error) {
      screen.unreachable(error)
    } finally {
      isLoading = false
    }
    const now = screen.state()
    if (now.filter !== filter || now.limit !== limit) await load()
  }

  /** What lies under the hand stays there when somebody else has decided it. */
  async function withSelected(items: readonly ApprovalItem[]): Promise<readonly ApprovalItem[]> {
    const { selected, decided } = screen.state()
    if (selected === undefined || decided.has(selected)) return items
    if (items.some(({ id }) => id === selected)) return items
    const kept = await readByIds(client, [selected])
    return [...items, ...kept].toSorted((a, b) => (a.id < b.id ? 1 : -1))
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
    return theOnly(outcomes)
  }

  async function resolveHandoff(effect: Extract<Effect, { act: 'resolve' }>): Promise<Outcome> {
    person()
    const { id, resolution, instructions } = effect
    const answer = { handoff_id: id, resolution, instructions }
    const answered = await client.call('cowork_resolve_handoff', answer)
    return { id, status: 'resolved', note: formatHandoffResult(answered) }
  }

  async function undo(id: string): Promise<Outcome> {
    person()
    return theOnly((await client.call('cowork_undo', { approval_ids: [id] })).outcomes)
  }

  async function policies(id: string): Promise<Event> {
    const listed = await client.call('cowork_list_policies')
    const options = listed.policies.map((policy) => policy.id)
    return options.length > 0
      ? { event: 'policies', id, options }
      : told('There is no policy to allow it under: write one into the configuration.', 'bad')
  }

  async function access(id: string): Promise<Event> {
    const options = listGrantChoices(await readDetail(client, id))
    return options.length > 0
      ? { event: 'access', id, options }
      : told('Nothing was there that could be allowed: deny it, or let the agent ask again.', 'bad')
  }

  async function edit(id: string): Promise<Event> {
    const { change } = await readDetail(client, id)
    const before = drafts.get(id) ?? editableJson(change)
    const text = await screen.lend(() => editInEditor(before, env))
    drafts.set(id, text)
    const after = parseJson(text)
    if (after === undefined) return told('That is not JSON: nothing was decided. e goes on.', 'bad')
    drafts.delete(id)
    return isDeepStrictEqual(after, change)
      ? told('You changed nothing, so nothing was decided.', 'calm')
      : { event: 'edited', id, change: after }
  }

  return screen.run()
}

function theOnly([outcome]: readonly Outcome[]): Outcome {
  if (!outcome) throw new Error('the daemon did not say what became of a decision')
  return outcome
}

const told = (text: string, tone: Message['tone']): Event => ({
  event: 'told',
  message: { text, tone },
})
