import { Plain } from '../../shared/Plain.tsx'
import { Section } from '../../shared/Section.tsx'

/** The agent's own words, as plain text in which nothing hides (A13). */
export const Reasoning = ({ text, title = 'Reasoning' }: { text: string | null; title?: string }) =>
  text === null || text === '' ? null : (
    <Section title={title}>
      <blockquote className="border-l-2 border-line pl-3 text-soft">
        <p className="text-xs text-faint">the agent says</p>
        <Plain as="p" className="break-words whitespace-pre-wrap" text={text} lines />
      </blockquote>
    </Section>
  )
