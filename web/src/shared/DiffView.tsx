import type { DiffLine } from '../policies/diff.ts'
import { SafeText } from './SafeText.tsx'
import { HorizontalScroll } from './HorizontalScroll.tsx'

const backgrounds = { '+': 'bg-act-bg', '−': 'bg-escalate-bg', ' ': '', '@': 'bg-raised' }
const signLabels = { '+': 'added', '−': 'removed', ' ': '', '@': 'unchanged lines skipped' }

type Props = { label: string; lines: readonly DiffLine[]; className?: string }

/** Shows a line diff with sign, background and word, never color alone (C11). */
export const DiffView = ({ label, lines, className = 'max-h-120' }: Props) => (
  <div className="overflow-hidden rounded border border-line bg-panel font-mono text-code leading-5.5">
    <HorizontalScroll label={label} className={className}>
      <div className="w-max min-w-full">
        {lines.map(({ sign, text }, at) => (
          // The lines of one comparison never change their order.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className={`flex px-3 whitespace-pre ${backgrounds[sign]}`}>
            <span aria-hidden className="w-4.5 shrink-0 text-faint select-none">
              {sign === '@' ? '⋯' : sign}
            </span>
            {signLabels[sign] && <span className="sr-only">{signLabels[sign]} </span>}
            <SafeText as="span" text={text} />
          </div>
        ))}
      </div>
    </HorizontalScroll>
  </div>
)
