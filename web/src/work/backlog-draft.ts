import type { BacklogWhole } from './work.ts'

/** The form values of a backlog item, all as text. */
export type BacklogDraft = {
  readonly summary: string
  readonly theme: string
  readonly priority: string
  readonly status: string
  readonly text: string
}

export const backlogDraft = (item?: BacklogWhole): BacklogDraft => ({
  summary: item?.summary ?? '',
  theme: item?.theme ?? '',
  priority: item?.priority ?? '',
  status: item?.status ?? 'todo',
  text: item?.text ?? '',
})

/** Returns the changed fields; a cleared field is null (W12). */
export function backlogChanges(
  draft: BacklogDraft,
  from: BacklogDraft,
  before?: Pick<BacklogWhole, 'text' | 'text_sha256'>,
): Record<string, unknown> {
  const differs = (name: 'summary' | 'theme' | 'priority' | 'status') =>
    draft[name].trim() !== from[name].trim()
  return {
    ...(differs('summary') && { summary: draft.summary.trim() }),
    ...(differs('theme') && { theme: draft.theme.trim() || null }),
    ...(differs('priority') && { priority: draft.priority || null }),
    ...(differs('status') && { status: draft.status }),
    // The hash ensures that only the text shown in the form is replaced (W25).
    ...(draft.text !== from.text && {
      text: withLineEnds(draft.text, before?.text),
      ...(before?.text_sha256 !== undefined && { text_sha256: before.text_sha256 }),
    }),
  }
}

/** Restores CRLF, which the form normalizes to LF. */
const withLineEnds = (text: string, before = ''): string =>
  /\r\n/.test(before) && !/(?<!\r)\n/.test(before) ? text.replaceAll(/(?<!\r)\n/g, '\r\n') : text
