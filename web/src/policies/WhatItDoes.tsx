import { useMutation } from '@tanstack/react-query'
import { sizeOf } from './diff.ts'
import { replay } from './review.ts'
import type { Review } from './review.ts'
import { DiffView } from '../shared/DiffView.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { Choices } from '../shared/Field.tsx'
import { Section } from '../shared/Section.tsx'
import { Note } from '../shared/States.tsx'
import { ReplayTable } from './ReplayTable.tsx'
import { TryOne } from './TryOne.tsx'

type Props = {
  text: string
  review: Review | undefined
  /** It is YAML at least. */
  isFit: boolean
}

/** What the text would change: in words, on what happened, and for one proposal. */
export const WhatItDoes = ({ text, review, isFit }: Props) => (
  <section
    aria-label="What it would do"
    className="scroll-thin grid min-h-0 min-w-0 content-start gap-6 px-7 pt-5 pb-10 max-md:px-4 lg:overflow-y-auto"
  >
    {review ? (
      <Reviewed key={review.text} review={review} isOld={review.text !== text} />
    ) : (
      <Note tone="plain" icon="info">
        Simulate judges again what agents proposed and called lately, with the trust of that time,
        and shows what would have come out differently. Nothing is in force before you save it.
      </Note>
    )}
    <TryOne text={text} isFit={isFit} />
  </section>
)

const periods = ['7', '30', '90', '365'] as const

function Reviewed({ review, isOld }: { review: Review; isOld: boolean }) {
  const { more, less } = sizeOf(review.lines)
  const again = useMutation({ mutationFn: (days: number) => replay(review.text, days) })
  const replayed = again.data ?? review.replayed
  const days = String(again.variables ?? review.replayed.days)
  return (
    <>
      {isOld && (
        <Note tone="suggest" icon="info">
          You have written on since. Simulate again before you save.
        </Note>
      )}
      <Section
        title={`On record, last ${replayed.days} days`}
        aside={
          <Choices
            label="Days"
            value={periods.find((each) => each === days) ?? '30'}
            choices={periods.map((value) => ({ value, label: value }))}
            onChoose={(value) => again.mutate(Number(value))}
          />
        }
      >
        <ErrorNote error={again.error} />
        <ReplayTable replayed={replayed} />
      </Section>
      {review.lines.length > 0 ? (
        <Section title={`Changes: ${more} added, ${less} taken out`}>
          <DiffView label="What you changed" lines={review.lines} />
        </Section>
      ) : (
        <p className="text-soft">It says the same as what is in force.</p>
      )}
    </>
  )
}
