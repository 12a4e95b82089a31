import { entryNoun } from '../api/entry.ts'
import type { Entry } from '../api/entry.ts'
import { screens } from '../screens.ts'
import { sanitizeText } from '../shared/sanitize.ts'
import { addSubject } from '../shared/sentence.ts'
import type { EntryKind, EntryText, Part, Sentence } from '../shared/sentence.ts'

const texts: readonly EntryText[] = screens.map(({ entryText }) => entryText)
const sentences: EntryText['sentences'] = Object.assign({}, ...texts.map((one) => one.sentences))
const kinds: EntryText['kinds'] = Object.assign({}, ...texts.map((one) => one.kinds))

/** Formats a type without a text of its own: `plan.voided` as “Plan voided”. */
const defaultSentence: Sentence = (entry) => {
  const words = entry.type.replaceAll(/[._]/g, ' ')
  return [words.charAt(0).toUpperCase() + words.slice(1), ...addSubject(entry, ':')]
}

export function formatEntry(entry: Entry): Part[] {
  const sentence = sentences[entry.type] ?? defaultSentence
  return sentence(entry).filter((part) => part !== undefined)
}

/** Formats an entry as sanitized text, for titles and tooltips. */
export const formatEntryText = (entry: Entry): string =>
  formatEntry(entry)
    .map((part) => (typeof part === 'string' ? part : sanitizeText(part.quote)))
    .join(' ')
    .replaceAll(' :', ':')

export const getEntryKind = (entry: Entry): EntryKind =>
  kinds[entry.type] ?? kinds[entryNoun(entry)] ?? 'other'
