import type { ToolResults } from '#wire'
import { overrideTypes, severities } from '#base/override.ts'
import type { OverrideType, Severity } from '#base/override.ts'

/** Quality metrics of an agent in a domain (Q1). */
export type Quality = ToolResults['cowork_quality_metrics']

export type OverrideBar = {
  readonly type: OverrideType
  readonly total: number
  readonly parts: readonly { readonly severity: Severity; readonly count: number }[]
}

/** Returns the overrides by type, most frequent first, split by severity. */
export function buildBars({ overrides }: Pick<Quality, 'overrides'>): OverrideBar[] {
  return overrideTypes
    .map((type) => {
      const parts = severities.map((severity) => ({
        severity,
        count: overrides
          .filter((it) => it.override_type === type && it.severity === severity)
          .reduce((sum, { count }) => sum + count, 0),
      }))
      return { type, total: parts.reduce((sum, { count }) => sum + count, 0), parts }
    })
    .filter(({ total }) => total > 0)
    .toSorted((a, b) => b.total - a.total)
}

/** The minimum number of reviews for the warning. */
const minReviews = 50
const maxApprovalRate = 0.95
const maxFastShare = 0.5

/** Whether over 95% of at least 50 reviews were approved, most of them within 3 s (G3). */
export const isRubberStamped = (
  quality: Pick<Quality, 'n_reviewed' | 'approval_rate' | 'rubber_stamp_share'>,
): boolean =>
  quality.n_reviewed >= minReviews &&
  (quality.approval_rate ?? 0) > maxApprovalRate &&
  (quality.rubber_stamp_share ?? 0) > maxFastShare

/** Formats `0.8 s`, `42 s`, `3 min`, `5 h` or `2 days`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 36 * 3600
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86_400)} days`
}
