import { useState } from 'react'
import type { Line } from '../change.ts'
import { Button } from '../../shared/Button.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { Sideways } from '../../shared/Sideways.tsx'

/** More lines than one reads at once wait for a press. */
const most = 200

const grounds = { '+': 'bg-act-bg', '−': 'bg-escalate-bg', ' ': '' }
const words = { '+': 'becomes', '−': 'was', ' ': '' }

/** Before and after, line by line: sign, ground and word, never colour alone. */
export function Lines({ label, lines }: { label: string; lines: readonly Line[] }) {
  const [isWhole, setWhole] = useState(lines.length <= most)
  const shown = isWhole ? lines : lines.slice(0, most)
  return (
    <div className="overflow-hidden rounded border border-line bg-panel font-mono text-code leading-5.5">
      <Sideways label={label} className="max-h-120">
        {shown.map(({ sign, field, text }, at) => (
          // The lines of one change never move.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className={`flex px-3 whitespace-pre-wrap ${grounds[sign]}`}>
            <span aria-hidden className="w-4.5 shrink-0 text-faint select-none">
              {sign}
            </span>
            <span className="sr-only">{words[sign]} </span>
            <span className="min-w-0 break-words [overflow-wrap:anywhere]">
              {field === undefined ? (
                <span className="block min-h-5.5 border-l-2 border-line pl-2">
                  <Plain text={text} lines />
                </span>
              ) : (
                <>
                  <Plain text={field} />: <Plain text={text} />
                </>
              )}
            </span>
          </div>
        ))}
      </Sideways>
      {!isWhole && (
        <Button tone="quiet" size="sm" className="w-full" onClick={() => setWhole(true)}>
          Show all {lines.length} lines
        </Button>
      )}
    </div>
  )
}
