import { modeForScore } from '../approval.ts'
import type { Thresholds } from '../approval.ts'
import { levelLabels, formatScore, formatSigned } from '../text.ts'

type Props = { from: number | null; to: number; thresholds: Thresholds }

/** Shows `0.72 → 0.60 (−0.12)`, and the new mode if it changes. */
export function TrustChange({ from, to, thresholds }: Props) {
  const after = modeForScore(to, thresholds)
  const isOther = from !== null && modeForScore(from, thresholds) !== after
  return (
    <p role="status" className="text-right text-xs text-soft">
      Trust{' '}
      <b className="text-text">
        {from !== null && `${formatScore(from)} → `}
        {formatScore(to)}
      </b>
      {from !== null && ` (${formatSigned(to - from)})`}
      {isOther && `, then ${levelLabels[after].toLowerCase()}`}
    </p>
  )
}
