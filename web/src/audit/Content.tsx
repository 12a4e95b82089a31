import type { Entry } from '../api/entry.ts'
import { CopyButton } from '../shared/Copy.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Section } from '../shared/Section.tsx'
import { Sideways } from '../shared/Sideways.tsx'
import { Note } from '../shared/States.tsx'

/** Fields that the facts above have shown. */
const told = new Set(['tool', 'effect', 'ms', 'message', 'claim'])

/** What came with the entry: its data, and what is kept beside it and can be erased (L8). */
export function Content({ entry, payload }: { entry: Entry; payload: unknown }) {
  const rest = Object.fromEntries(
    Object.entries(entry.data ?? {}).filter(([name]) => !told.has(name)),
  )
  const label = entry.type.startsWith('call.') ? 'Arguments' : 'Content'
  const says = entry.actor.kind === 'agent' ? 'the agent says' : undefined
  return (
    <>
      {payload !== undefined && <Json title={label} says={says} value={payload} />}
      {entry.payload !== undefined && payload === undefined && (
        <Section title={label}>
          <Note tone="plain" icon="info">
            Erased. Its digest stays in the entry, so the proof below still holds.
          </Note>
        </Section>
      )}
      {Object.keys(rest).length > 0 && <Json title="Data" says={says} value={rest} />}
    </>
  )
}

function Json({ title, says, value }: { title: string; says: string | undefined; value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <Section title={title} aside={<CopyButton text={text} what="JSON" />} says={says}>
      <Sideways
        as="pre"
        label={title}
        className="max-h-80 rounded border border-line bg-panel px-3 py-2 font-mono text-code"
      >
        <Plain text={text} lines />
      </Sideways>
    </Section>
  )
}
