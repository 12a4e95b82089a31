import type { Actor, EntryDraft, EntryIds } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { JsonObject, CanonicalCopy, Redact } from './redact.ts'
import { leafHash } from './tree.ts'
import { entryType, idNames } from './wire.ts'
import type { Entry } from './wire.ts'
import type { EntryRow } from './store.ts'

/** What the first entry shows as the hash of the entry before. */
export const genesisHash = '0'.repeat(64)
/** The head of a ledger without entries. */
export const emptyHead = { size: 0, at: 0, hash: genesisHash, frontier: '', mac: null }

export { entrySchema, firstSeq } from './wire.ts'
export type { Entry }

type Payload = { readonly salt: string; readonly body: string; readonly digest: string }

/** A draft that is fit to be recorded: its secrets are out and its payload has its digest. */
export type PreparedEntry = {
  /** Its place, that is seq, time and hash of the entry before, is filled in when it is sealed. */
  readonly entry: Entry
  readonly isSorted: boolean
  readonly payload?: Payload
}

export type SealedEntry = {
  readonly entry: Entry
  /** The canonical JSON that is stored and hashed. */
  readonly body: string
  readonly leaf: Buffer
  readonly payload?: Payload
}

export type LedgerProblem = { readonly seq: number; readonly why: string }

/** All that can fail is done here, in the body that appends; sealing a whole batch cannot fail any more. */
export function prepare(
  draft: EntryDraft,
  { redact, salt }: { redact: Redact; salt: () => string },
): PreparedEntry {
  const { type, actor, domain, subject, ids, outcome, data, payload: content } = draft
  if (!entryType.test(type))
    throw new CoworkError(
      'not_recordable',
      `"${type}" cannot be recorded: the type of an entry reads noun.past, as in grant.revoked.`,
    )
  const payload =
    content === undefined ? undefined : sealPayload(redact.toCanonical(content), salt())
  const redacted = data && redact.toCanonical(data)
  // Field by field: our own words must stand, whatever the patterns of the owner match. And in the order
  // of the canonical form, here and below, which makes that cheap; it leaves out what is undefined.
  const entry: Entry = {
    actor: redactActor(actor, redact),
    at: 0,
    data: redacted && (redacted.copy as JsonObject),
    domain: domain === undefined ? undefined : redact(domain),
    ids: ids && redactIds(ids, redact),
    outcome: outcome === undefined ? undefined : redact(outcome),
    payload: payload?.digest,
    prev: genesisHash,
    seq: 0,
    subject: subject === undefined ? undefined : redact(subject),
    type,
    v: 1,
  }
  return { entry, isSorted: redacted?.isSorted ?? true, ...(payload && { payload }) }
}

function redactActor(
  { kind, id, session, verified, client }: Actor,
  redact: Redact,
): Entry['actor'] {
  return {
    client: client && {
      name: redact(client.name),
      self_reported: true,
      transport: client.transport,
      version: redact(client.version),
    },
    id: redact(id),
    kind,
    session: session === undefined ? undefined : redact(session),
    verified,
  }
}

function redactIds(ids: EntryIds, redact: Redact): NonNullable<Entry['ids']> {
  const kept: NonNullable<Entry['ids']> = {}
  for (const name of idNames) {
    const id = ids[name]
    if (id !== undefined) kept[name] = redact(id)
  }
  return kept
}

/** Fills in the place of the entry. The next one's `prev` is this leaf in hex. */
export function seal(
  { entry, isSorted, payload }: PreparedEntry,
  { seq, at, prev }: { seq: number; at: number; prev: string },
): SealedEntry {
  entry.seq = seq
  entry.at = at
  entry.prev = prev
  const body = formatCanonical({ copy: entry, isSorted })
  return { entry, body, leaf: leafHash(body), ...(payload && { payload }) }
}

export const payloadDigest = (salt: string, body: string): string => sha256Hex(`${salt}:${body}`)

function sealPayload(content: CanonicalCopy, salt: string): Payload {
  const body = formatCanonical(content)
  return { salt, body, digest: payloadDigest(salt, body) }
}

/** In half the time where nothing has to be put in order. */
const formatCanonical = ({ copy, isSorted }: { copy: unknown; isSorted: boolean }) =>
  isSorted ? JSON.stringify(copy) : canonicalJson(copy)

export type IndexColumns = Omit<EntryRow, 'seq' | 'at' | 'type' | 'body' | 'hash'>

/** What the store repeats of an entry's body for look-ups. Verification compares the two (L7). */
export function toIndexColumns(entry: Entry): IndexColumns {
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
