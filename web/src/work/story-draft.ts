import type { Acceptance, Priority, Story } from './work.ts'

/** The form values of a story, all as text. */
export type StoryDraft = {
  readonly title: string
  readonly priority: Priority | ''
  readonly estimate: string
  readonly notes: string
  /** One criterion per line. */
  readonly acceptance: string
  /** Story ids, separated by commas, semicolons or spaces. */
  readonly needs: string
  readonly paths: string
}

export const toDraft = (story?: Story): StoryDraft => ({
  title: story?.title ?? '',
  priority: story?.priority ?? '',
  estimate: story?.estimate === undefined ? '' : String(story.estimate),
  notes: story?.notes ?? '',
  acceptance: (story?.acceptance ?? []).map(({ text }) => text).join('\n'),
  needs: (story?.depends_on ?? []).join(', '),
  paths: (story?.paths ?? []).join('\n'),
})

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Parses the criteria; unchanged ones keep their check mark. */
function parseAcceptance(text: string, before: readonly Acceptance[]): Acceptance[] {
  const remaining = [...before]
  return toLines(text).map((line) => {
    const at = remaining.findIndex((one) => one.text === line)
    return at === -1 ? { text: line } : (remaining.splice(at, 1)[0] ?? { text: line })
  })
}

/** Returns the changed fields; only these are sent, so that nothing else is overwritten (W15). */
export function diffDraft(
  draft: StoryDraft,
  from: StoryDraft,
  acceptance: readonly Acceptance[] = [],
): Record<string, unknown> {
  const differs = (name: keyof StoryDraft) => draft[name].trim() !== from[name].trim()
  return {
    ...(differs('title') && { title: draft.title.trim() }),
    ...(differs('priority') && { priority: draft.priority === '' ? null : draft.priority }),
    ...(differs('estimate') && {
      estimate: draft.estimate.trim() === '' ? null : Number(draft.estimate),
    }),
    ...(differs('notes') && { notes: draft.notes }),
    ...(differs('acceptance') && { acceptance: parseAcceptance(draft.acceptance, acceptance) }),
    ...(differs('needs') && { depends_on: draft.needs.split(/[\s,;]+/).filter(Boolean) }),
    ...(differs('paths') && { paths: toLines(draft.paths) }),
  }
}

/** Converts a title to a valid id. */
export const slugify = (words: string): string =>
  words
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '')
