import type { GrantAnswer, GrantRequest } from './approval.ts'

/** What a person can allow, in the words of GR3, and what each of them opens. */
export type GrantChoice = {
  readonly choice: Exclude<GrantAnswer['choice'], 'deny' | 'deny_always'>
  readonly label: string
  /** What it opens; the path after it is shown apart. */
  readonly opens: string
  readonly path: string
  readonly lasts: string
}

const session = 'until its session ends'
const good = 'until you revoke it'

/** The narrowest first. A file is no part of a request for a folder, and what is not there cannot be opened. */
export function grantChoices(asked: GrantRequest): GrantChoice[] {
  const { real, folder, is_folder: isFolder, permission } = asked
  const verb = permission === 'read-write' ? 'Reads and changes' : 'Reads'
  const file = { opens: 'Reads', path: real }
  const all = { opens: 'Reads all in', path: folder ?? '' }
  const changed = { opens: 'Reads and changes all in', path: folder ?? '' }
  const that = { opens: isFolder ? `${verb} all in` : verb, path: real }
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
export function narrowestOf(asked: GrantRequest): GrantChoice | undefined {
  if (asked.missing) return undefined
  const reads = asked.permission === 'read'
  if (!reads && !asked.is_folder) return undefined
  const wanted = reads ? (asked.is_folder ? 'folder_session' : 'file_once') : 'folder_write'
  return grantChoices(asked).find(({ choice }) => choice === wanted)
}

/** A time of a form that is yet to come, or what it lacks. */
export function untilOf(text: string, now: number): { until: string } | { lacks: string } {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return { lacks: 'Choose a time.' }
  return at > now
    ? { until: new Date(at).toISOString() }
    : { lacks: 'Choose a time that is yet to come.' }
}

/** The same hour of another day, as a form writes it. */
export function inDays(days: number, now: number): string {
  const at = new Date(now)
  at.setDate(at.getDate() + days)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`
}
