import { rfc3339 } from '#base/clock.ts'
import { momentOf } from './allowance.ts'
import type { Detail } from './approvals.ts'
import { grantChoices } from './choices.ts'
import type { GrantWord } from './choices.ts'
import { usage } from './exit.ts'

/** How a person answers a request for access, as `cowork_decide` takes it (GR3). */
export type GrantChoice =
  | { readonly choice: GrantWord | 'deny_always' }
  | { readonly choice: 'until'; readonly until: string }

/** What each of them opens, in words; the console has the same. */
export const choiceLabels: Readonly<Record<GrantWord | 'until', string>> = {
  file_once: 'Allow this file once (read, this session)',
  file: 'Allow this file (read)',
  folder_session: 'Allow folder this session (read)',
  until: 'Allow until…',
  folder: 'Allow folder (read)',
  folder_write: 'Allow folder (read-write)',
}

/** `file_once`, `file`, `folder`, `folder_write`, `folder_session` or `until:<time>`; a dash does as well. */
export function grantChoiceOf(text: string, now: number): GrantChoice {
  const word = grantChoices.find((one) => one === text.replaceAll('-', '_'))
  if (word) return { choice: word }
  const [, until] = /^until:(.+)$/.exec(text) ?? []
  if (until === undefined)
    throw usage(
      `--allow cannot be ${JSON.stringify(text)} for a request for access.`,
      `It is ${grantChoices.map((one) => one.replaceAll('_', '-')).join(', ')} or until:<time>, such as until:2h.`,
    )
  return untilOf(until, now)
}

/** `2h`, or a moment to come. */
export function untilOf(text: string, now: number): GrantChoice {
  const at = momentOf(text, now)
  if (Number.isNaN(at))
    throw usage(
      `${JSON.stringify(text)} is no time.`,
      'Write a span such as 2h or 7d, a day such as 2027-03-01, or 2027-03-01T18:00.',
    )
  if (at <= now) throw usage(`${text} is over.`, 'Name a time to come.')
  return { choice: 'until', until: rfc3339(at) }
}

/** What may be chosen for this request, the narrowest first. Of what was not there only the folder around it. */
export function choicesFor({ grant }: Pick<Detail, 'grant'>): (GrantWord | 'until')[] {
  if (!grant) return []
  const { is_folder: isFolder, missing, folder } = grant
  return [
    ...(isFolder || missing ? [] : (['file_once', 'file'] as const)),
    ...(folder === null ? [] : (['folder_session'] as const)),
    ...(missing ? [] : (['until'] as const)),
    ...(folder === null ? [] : (['folder', 'folder_write'] as const)),
  ]
}
