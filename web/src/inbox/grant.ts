import { commonFolder } from '../files/path.ts'
import { pluralize } from '../files/byte-size.ts'
import type { GrantAnswer, GrantRequest, Item } from './approval.ts'

/** What is asked for, as short as a row has room for it; the heading of the item has the whole sentence. */
export type AccessSummary = { readonly says: string; readonly path: string }

const sentence = /^AI wants to (?<verb>read(?: and write)?) (?<what>[^:/]+): /

function askedFor({ kind, summary }: Pick<Item, 'kind' | 'summary'>) {
  const { verb, what } = (kind === 'grant' && sentence.exec(summary)?.groups) || {}
  if (verb === undefined || what === undefined) return undefined
  return { verb: verb.replace('read', 'Read'), whole: what === 'files in' ? undefined : what }
}

type Asking = Pick<Item, 'kind' | 'summary' | 'target'>

export function summarizeAccess(item: Asking): AccessSummary | undefined {
  const asked = askedFor(item)
  if (!asked) return undefined
  const says = asked.whole === undefined ? asked.verb : `${asked.verb} ${asked.whole}:`
  return { says, path: item.target }
}

/** What all of a group ask for: those of one group want the same permission. */
export function commonAccess(items: readonly Asking[]): AccessSummary | undefined {
  const [asked, ...others] = items.map(askedFor)
  if (!asked || others.some((other) => other?.verb !== asked.verb)) return undefined
  const path = commonFolder(items.map(({ target }) => target))
  return { says: `${asked.verb} in${path === '' ? ' several folders' : ''}`, path }
}

/** What lies there, in few words: `38 files`, `2 look sensitive`. */
export function describeContents({
  missing,
  is_folder,
  inside,
  sensitive,
}: GrantRequest): string[] {
  const few = is_folder ? inside && pluralize(inside.files, 'file', 'files') : 'a file'
  return [
    missing ? 'not found' : inside?.capped === true ? `at least ${few}` : few,
    sensitive.length > 0 &&
      (sensitive.length === 1 ? '1 sensitive name' : `${sensitive.length} sensitive names`),
  ].filter((text) => typeof text === 'string')
}

/** What a person can allow, in the words of GR3, and what each of them opens. */
export type GrantChoice = {
  readonly choice: Exclude<GrantAnswer['choice'], 'deny' | 'deny_always'>
  readonly label: string
  /** What it opens; the path after it is shown apart. */
  readonly opens: string
  readonly path: string
  /** Of a folder: not only what is seen there today. */
  readonly also?: string
  readonly lasts: string
}

const session = 'until the session ends'
const good = 'until you revoke it'

/** The narrowest first. A file is no part of a request for a folder, and what is not there cannot be opened. */
export function grantChoices(asked: GrantRequest): GrantChoice[] {
  const { real, folder, is_folder: isFolder, permission } = asked
  const verb = permission === 'read-write' ? 'Reads and changes' : 'Reads'
  const file = { opens: 'Reads', path: real }
  const also = ', now and later,'
  const all = { opens: 'Reads everything in', path: folder ?? '', also }
  const changed = { opens: 'Reads and changes everything in', path: folder ?? '', also }
  const that = isFolder
    ? { opens: `${verb} everything in`, path: real, also }
    : { opens: verb, path: real }
  const choices: GrantChoice[] = [
    { choice: 'file_once', label: 'Allow this file once', ...file, lasts: session },
    { choice: 'file', label: 'Allow this file', ...file, lasts: good },
    { choice: 'folder_session', label: 'Allow folder this session', ...all, lasts: session },
    { choice: 'until', label: 'Allow until…', ...that, lasts: 'until a time you choose' },
    { choice: 'folder', label: 'Allow folder', ...all, lasts: good },
    { choice: 'folder_write', label: 'Allow folder (read-write)', ...changed, lasts: good },
  ]
  return choices.filter(({ choice }) => {
    if (choice === 'file_once' || choice === 'file') return !isFolder && !asked.missing
    return choice === 'until' ? !asked.missing : folder !== null
  })
}

/** What approving without a word allows: the least that gives what was asked, where there is such a thing. */
export function narrowestChoice(asked: GrantRequest): GrantChoice | undefined {
  if (asked.missing) return undefined
  const reads = asked.permission === 'read'
  if (!reads && !asked.is_folder) return undefined
  const wanted = reads ? (asked.is_folder ? 'folder_session' : 'file_once') : 'folder_write'
  return grantChoices(asked).find(({ choice }) => choice === wanted)
}

/** A time of a form that is yet to come, or what it lacks. */
export function parseUntil(text: string, now: number): { until: string } | { lacks: string } {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return { lacks: 'Choose a time.' }
  return at > now
    ? { until: new Date(at).toISOString() }
    : { lacks: 'Choose a time in the future.' }
}

/** The same hour of another day, as a form writes it. */
export function dateInDays(days: number, now: number): string {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}
