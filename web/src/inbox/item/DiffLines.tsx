import { useState } from 'react'
import type { Line } from '../change.ts'
import { Button } from '../../shared/Button.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { HorizontalScroll } from '../../shared/HorizontalScroll.tsx'
import type { Detail } from '../approval.ts'
import { changeLines, toLines } from '../change.ts'
import { CopyButton } from '../../shared/Copy.tsx'
import { Section } from '../../shared/Section.tsx'

/** Longer changes are collapsed. */
const maxCollapsedLines = 200

const backgrounds = { '+': 'bg-act-bg', '−': 'bg-escalate-bg', ' ': '' }
const signLabels = { '+': 'becomes', '−': 'was', ' ': '' }

/** Shows a change with sign, background and word, never color alone (C11). */
export function DiffLines({ label, lines }: { label: string; lines: readonly Line[] }) {
  const [isExpanded, setExpanded] = useState(lines.length <= maxCollapsedLines)
  const shown = isExpanded ? lines : lines.slice(0, maxCollapsedLines)
  return (
    <div className="overflow-hidden rounded border border-line bg-panel font-mono text-code leading-5.5">
      <HorizontalScroll label={label} className="max-h-120">
        {shown.map(({ sign, field, text }, at) => (
          // The lines of one change never change their order.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className={`flex px-3 whitespace-pre-wrap ${backgrounds[sign]}`}>
            <span aria-hidden className="w-4.5 shrink-0 text-faint select-none">
              {sign}
            </span>
            <span className="sr-only">{signLabels[sign]} </span>
            <span className="min-w-0 break-words [overflow-wrap:anywhere]">
              {field === undefined ? (
                <SafeText
                  as="span"
                  className="block min-h-5.5 border-l-2 border-line pl-2"
                  text={text}
                  lines
                />
              ) : (
                <>
                  <SafeText text={field} />: <SafeText text={text} />
                </>
              )}
            </span>
          </div>
        ))}
      </HorizontalScroll>
      {!isExpanded && (
        <Button tone="quiet" size="sm" className="w-full" onClick={() => setExpanded(true)}>
          Show all {lines.length} lines
        </Button>
      )}
    </div>
  )
}

const titles: Record<string, string> = {
  call: 'Arguments',
  permission: 'Requested action',
  spot_check: 'Action',
}

export function Change({ detail }: { detail: Detail }) {
  const { kind, change, before, approved_change: approved } = detail
  const isProposal = kind === 'proposal'
  const lines = isProposal ? changeLines(before, change) : toLines(change)
  const hasBefore = isProposal && Object.keys(before).length > 0
  return (
    <>
      <Section
        title={titles[kind] ?? 'Change'}
        says={hasBefore ? 'compared with the last approved change' : undefined}
        aside={<CopyButton text={JSON.stringify(change, null, 2)} what="JSON" />}
      >
        {lines.length > 0 ? (
          <DiffLines label={titles[kind] ?? 'Change'} lines={lines} />
        ) : (
          <p className="text-faint">No changes</p>
        )}
      </Section>
      {approved !== undefined && (
        <Section title="Approved change" says="edited by a person">
          <DiffLines label="Approved change" lines={changeLines(change, approved)} />
        </Section>
      )}
    </>
  )
}
