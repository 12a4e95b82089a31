import { ApiError, call } from '../api/client.ts'
import { diffLines } from './diff.ts'
import type { DiffLine } from './diff.ts'
import type { Replayed } from './policy.ts'
import { located } from './yaml-text.ts'
import type { Named, TextProblem } from './yaml-text.ts'

/** What a text would change, in words and on record. */
export type Review = {
  readonly text: string
  readonly lines: readonly DiffLine[]
  readonly replayed: Replayed
}

/** Without a proposal to try, the daemon always gives all of a replay. */
export const replay = async (text: string, days: number): Promise<Replayed> =>
  (await call('cowork_simulate_policy', { body: text, days })) as Replayed

/** Both at once: who saves has seen what it says and what it does. */
export async function review(text: string, days: number): Promise<Review> {
  const { diff } = await call('cowork_policy_diff', { from: 'active', body: text })
  return { text, lines: diffLines(diff), replayed: await replay(text, days) }
}

export function problemsOf(error: unknown, text: string): TextProblem[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'policy_invalid') return undefined
  const { problems } = error.details
  return Array.isArray(problems) ? located(text, problems as Named[]) : undefined
}
