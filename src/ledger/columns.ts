import type { Entry } from './model.ts'
import type { EntryRow } from './store.ts'

export type Columns = Omit<EntryRow, 'seq' | 'at' | 'type' | 'body' | 'hash'>

/** What the store repeats of an entry's body for look-ups. Verification compares the two (L7). */
export function columnsOf(entry: Entry): Columns {
  const tool = entry.data?.['tool']
  return {
    actor: column(entry.actor.id),
    domain: column(entry.domain),
    subject: column(entry.subject),
    tool: typeof tool === 'string' ? column(tool) : null,
    call: column(entry.ids?.call),
    proposal: column(entry.ids?.proposal),
  }
}

/** PostgreSQL has no room for NUL in a text; the body keeps it escaped. */
function column(text: string): string
function column(text: string | undefined): string | null
function column(text: string | undefined): string | null {
  return text?.includes('\u0000') ? text.replaceAll('\u0000', '\u2400') : (text ?? null)
}
