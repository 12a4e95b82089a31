import { Fragment } from 'react'
import type { Entry } from '../api/entry.ts'
import { formatEntry } from './text.ts'
import { SafeText } from '../shared/SafeText.tsx'
import type { Part } from '../shared/sentence.ts'

/** An entry in one line: fixed text plain, untrusted text bold, reasons muted. */
export const EntrySentence = ({ entry, isBrief = false }: { entry: Entry; isBrief?: boolean }) =>
  withoutReason(formatEntry(entry), isBrief).map((part, at) => (
    // The parts of a sentence never change their order.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={at}>
      {at > 0 && part !== ':' && ' '}
      {typeof part === 'string' ? (
        part
      ) : part.isAside ? (
        <SafeText as="span" className="text-soft" text={part.quote} />
      ) : (
        <SafeText as="b" text={part.quote} />
      )}
    </Fragment>
  ))

/** Removes the reason if the page shows it separately. */
function withoutReason(parts: Part[], isBrief: boolean): Part[] {
  const dash = parts.indexOf('—')
  return isBrief && dash !== -1 ? parts.slice(0, dash) : parts
}
