import type { Outcome } from './policy.ts'
import { Chip, ModeChip } from '../shared/Chips.tsx'

/** What becomes of it: a mode, or nothing. */
export const OutcomeChip = ({ outcome }: { outcome: Outcome }) =>
  outcome === 'blocked' ? (
    <Chip tone="escalate" icon="stop">
      blocked
    </Chip>
  ) : (
    <ModeChip mode={outcome} />
  )
