import type { Entry } from '../api/entry.ts'

/** A fixed text, or an untrusted text that is shown as plain text (A13). */
export type Part = string | { readonly quote: string; readonly isAside?: true }
type Parts = readonly (Part | undefined)[]

/** Formats an entry: the event, its subject, and the reason of a failure. The actor is shown separately. */
export type Sentence = (entry: Entry) => Parts

export type EntryKind =
  | 'call'
  | 'action'
  | 'decision'
  | 'agent'
  | 'person'
  | 'access'
  | 'halt'
  | 'resume'
  | 'system'
  | 'other'

/** The texts of a screen's entries in the Audit. */
export type EntryText = {
  /** By noun, or by type if one type of the noun is of another kind. */
  readonly kinds: Readonly<Record<string, EntryKind>>
  /** By type. */
  readonly sentences: Readonly<Record<string, Sentence>>
}

export const toQuote = (text: unknown): Part | undefined =>
  typeof text === 'string' && text !== '' ? { quote: text } : undefined
export const getField = (entry: Entry, name: string): unknown => entry.data?.[name]
export const quoteField = (entry: Entry, name: string): Part | undefined =>
  toQuote(getField(entry, name))
export const addSubject = (entry: Entry, before = 'on'): Parts =>
  entry.subject ? [before, toQuote(entry.subject)] : []
export const addReason = (entry: Entry, name = 'message'): Parts => addAside(getField(entry, name))
export const addAside = (text: unknown): Parts =>
  typeof text === 'string' && text !== '' ? ['—', { quote: text, isAside: true }] : []

/** Formats `lease_expired` as `lease expired`. */
export const toWords = (text: unknown): string =>
  typeof text === 'string' ? text.replaceAll('_', ' ') : ''
