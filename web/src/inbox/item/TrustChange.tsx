import { modeAt } from '../approval.ts'
import type { Thresholds } from '../approval.ts'
import { levelWords, score, signed } from '../text.ts'

type Props = { from: number | null; to: number; thresholds: Thresholds }

/** `0.72 → 0.60 (−0.12)`, and what the agent may do from then on if that is something else. */
export function TrustChange({ from, to, thresholds }: Props) {
  const after = modeAt(to, thresholds)
  const isOther = from !== null && modeAt(from, thresholds) !== after
  return (
    <p role="status" className="text-right text-xs text-soft">
      Trust{' '}
      <b className="text-text">
        {from !== null && `${score(from)} → `}
        {score(to)}
      </b>
      {from !== null && ` (${signed(to - from)})`}
      {isOther && `, then ${levelWords[after].toLowerCase()}`}
    </p>
  )
}
