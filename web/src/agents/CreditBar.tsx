import { creditBarOf } from './class-standing.ts'
import type { ClassStanding } from './class-standing.ts'

const share = (part: number) => `${part * 100}%`

type Props = { credit: ClassStanding['credit']; className?: string }

/** Credit from zero to what the gate needs, and a debt to the left of zero; beside the words that say it. */
export function CreditBar({ credit, className = 'h-2 w-full' }: Props) {
  const { zero, debt, earned } = creditBarOf(credit)
  const isFull = credit.now >= credit.needed
  return (
    <span aria-hidden className={`flex overflow-hidden rounded-full ${className}`}>
      {debt > 0 && (
        <span className="border-r-2 border-bg bg-escalate" style={{ width: share(debt) }} />
      )}
      <span className="bg-line" style={{ width: share(1 - zero) }}>
        <span
          className={`block h-full ${isFull ? 'bg-act' : 'bg-suggest'}`}
          style={{ width: share(earned) }}
        />
      </span>
    </span>
  )
}
