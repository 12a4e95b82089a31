import { ApiError, call } from '../api/client.ts'
import { diffLines } from './diff.ts'
import type { DiffLine } from './diff.ts'
import type { ReplayResult } from './policy.ts'
import { locateIssues } from './yaml-text.ts'
import type { PathIssue, TextIssue } from './yaml-text.ts'

/** The diff of a draft and its replay of the history. */
export type DraftReview = {
  readonly text: string
  readonly lines: readonly DiffLine[]
  readonly replayed: ReplayResult
}

/** Replays the history. Without a proposal, the daemon always returns a complete replay. */
export const replay = async (text: string, days: number): Promise<ReplayResult> =>
  (await call('cowork_simulate_policy', { body: text, days })) as ReplayResult

/** Compares and replays a draft, so that a person sees both before saving. */
export async function review(text: string, days: number): Promise<DraftReview> {
  const { diff } = await call('cowork_policy_diff', { from: 'active', body: text })
  return { text, lines: diffLines(diff), replayed: await replay(text, days) }
}

export function toTextIssues(error: unknown, text: string): TextIssue[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'policy_invalid') return undefined
  const { problems } = error.details
  return Array.isArray(problems) ? locateIssues(text, problems as PathIssue[]) : undefined
}
