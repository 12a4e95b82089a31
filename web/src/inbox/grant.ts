import { commonFolder } from '../files/path.ts'
import { pluralize } from '../files/byte-size.ts'
import type { GrantAnswer, GrantRequest, Item } from './approval.ts'

/** The short form of an access request for a row. */
export type AccessSummary = { readonly says: string; readonly path: string }

const sentence = /^AI wants to (?<verb>read(?: and write)?) (?<what>[^:/]+): /

function parseSummary({ kind, summary }: Pick<Item, 'kind' | 'summary'>) {
  const { verb, what } = (kind === 'grant' && sentence.exec(summary)?.groups) || {}
  if (verb === undefined || what === undefined) return undefined
  return { verb: verb.replace('read', 'Read'), scope: what === 'files in' ? undefined : what }
}

type RequestFields = Pick<Item, 'kind' | 'summary' | 'target'>

export function summarizeAccess(item: RequestFields): AccessSummary | undefined {
  const request = parseSummary(item)
  if (!request) return undefined
  const says = request.scope === undefined ? request.verb : `${request.verb} ${request.scope}:`
  return { says, path: item.target }
}

/** Returns the common access of a group, whose requests have the same permission. */
export function commonAccess(items: readonly RequestFields[]): AccessSummary | undefined {
  const [asked, ...others] = items.map(parseSummary)
  if (!asked || others.some((other) => other?.verb !== asked.verb)) return undefined
  const path = commonFolder(items.map(({ target }) => target))
  return { says: `${asked.verb} in${path === '' ? ' several folders' : ''}`, path }
}

/** Describes the contents briefly: `38 files`, `2 sensitive names`. */
export function describeContents({
  missing,
  is_folder,
  inside,
  sensitive,
}: GrantRequest): string[] {
  const count = is_folder ? inside && pluralize(inside.files, 'file', 'files') : 'a file'
  return [
    missing ? 'not found' : inside?.capped === true ? `at least ${count}` : count,
    sensitive.length > 0 &&
      (sensitive.length === 1 ? '1 sensitive name' : `${sensitive.length} sensitive names`),
  ].filter((text) => typeof text === 'string')
}

/** A choice of GR3 and its effect. */
export type GrantChoice = {
  readonly choice: Exclude<GrantAnswer['choice'], 'deny' | 'deny_always'>
  readonly label: string
  /** The effect; the path follows it. */
  readonly opens: string
  readonly path: string
  /** A folder grant includes later files. */
  readonly also?: string
  readonly lasts: string
}

const untilSessionEnd = 'until the session ends'
const untilRevoked = 'until you revoke it'

/** Returns the choices, narrowest first. Folder requests have no file choices, and a missing path cannot be opened. */
export function grantChoices(asked: GrantRequest): GrantChoice[] {
  const { real, folder, is_folder: isFolder, permission } = asked
  const verb = permission === 'read-write' ? 'Reads and changes' : 'Reads'
  const file = { opens: 'Reads', path: real }
  const also = ', now and later,'
  const all = { opens: 'Reads everything in', path: folder ?? '', also }
  const changed = { opens: 'Reads and changes everything in', path: folder ?? '', also }
  const exact = isFolder
    ? { opens: `${verb} everything in`, path: real, also }
    : { opens: verb, path: real }
  const choices: GrantChoice[] = [
    { choice: 'file_once', label: 'Allow Once', ...file, lasts: untilSessionEnd },
    { choice: 'file', label: 'Allow This File', ...file, lasts: untilRevoked },
    {
      choice: 'folder_session',
      label: 'Allow folder this session',
      ...all,
      lasts: untilSessionEnd,
    },
    { choice: 'until', label: 'Allow until…', ...exact, lasts: 'until a time you choose' },
    { choice: 'folder', label: 'Allow Folder', ...all, lasts: untilRevoked },
    { choice: 'folder_write', label: 'Allow Folder (Read-Write)', ...changed, lasts: untilRevoked },
  ]
  return choices.filter(({ choice }) => {
    if (choice === 'file_once' || choice === 'file') return !isFolder && !asked.missing
    return choice === 'until' ? !asked.missing : folder !== null
  })
}

/** Returns the choice of a plain approval: the narrowest one that gives the requested access, if any. */
export function narrowestChoice(asked: GrantRequest): GrantChoice | undefined {
  if (asked.missing) return undefined
  const isRead = asked.permission === 'read'
  if (!isRead && !asked.is_folder) return undefined
  const choiceName = isRead ? (asked.is_folder ? 'folder_session' : 'file_once') : 'folder_write'
  return grantChoices(asked).find(({ choice }) => choice === choiceName)
}

/** Parses a future time from a form, or returns the error. */
export function parseUntil(text: string, now: number): { until: string } | { lacks: string } {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return { lacks: 'Choose a time.' }
  return at > now
    ? { until: new Date(at).toISOString() }
    : { lacks: 'Choose a time in the future.' }
}

/** Formats the same time of another day as a form value. */
export function dateInDays(days: number, now: number): string {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  const pad = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`
}
