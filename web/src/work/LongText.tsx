import { Plain } from '../shared/Plain.tsx'
import { Section } from '../shared/Section.tsx'
import type { BacklogWhole } from './work.ts'

type Props = { item: Pick<BacklogWhole, 'text' | 'text_note'>; says?: string }

/** What a backlog item says at length, as it is written: markup is text here (A13). */
export function LongText({ item: { text, text_note: note }, says }: Props) {
  if (text === undefined && note === undefined) return null
  return (
    <Section title="Text" says={says}>
      {note === undefined ? (
        <p className="break-words whitespace-pre-wrap">
          <Plain text={text ?? ''} lines />
        </p>
      ) : (
        <p className="break-words text-soft">
          <Plain text={note} />
        </p>
      )}
    </Section>
  )
}
