import type { Detail } from '../approval.ts'
import { changeLines, plainLines } from '../change.ts'
import { CopyButton } from '../../shared/Copy.tsx'
import { Section } from '../../shared/Section.tsx'
import { Lines } from './Lines.tsx'

const titles: Record<string, string> = {
  call: 'Arguments',
  permission: 'What it wanted to do',
  spot_check: 'What it did',
}

/** What is asked for, against what was last approved on the same target. */
export function Change({ detail }: { detail: Detail }) {
  const { kind, change, before, approved_change: approved } = detail
  const isProposal = kind === 'proposal'
  const lines = isProposal ? changeLines(before, change) : plainLines(change)
  const hasBefore = isProposal && Object.keys(before).length > 0
  return (
    <>
      <Section
        title={titles[kind] ?? 'Change'}
        says={hasBefore ? 'against what was last approved here' : undefined}
        aside={<CopyButton text={JSON.stringify(change, null, 2)} what="JSON" />}
      >
        {lines.length > 0 ? (
          <Lines label={titles[kind] ?? 'Change'} lines={lines} />
        ) : (
          <p className="text-faint">Nothing.</p>
        )}
      </Section>
      {approved !== undefined && (
        <Section title="What was approved" says="a person changed it">
          <Lines label="What was approved" lines={changeLines(change, approved)} />
        </Section>
      )}
    </>
  )
}
