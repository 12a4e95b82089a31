import type { Actor, EntryDraft, EntryIds } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { JsonObject, CanonicalCopy, Redact } from './redact.ts'
import { leafHash } from './tree.ts'
import { entryType, idNames } from './wire.ts'
import type { Entry } from './wire.ts'
import type { EntryRow } from './store.ts'

/** The previous hash of the first entry. */
export const genesisHash = '0'.repeat(64)
/** The head of a ledger without entries. */
export const emptyHead = { size: 0, at: 0, hash: genesisHash, frontier: '', mac: null }

export { entrySchema, firstSeq } from './wire.ts'
export type { Entry }

type Payload = { readonly salt: string; readonly body: string; readonly digest: string }

/** A validated draft: secrets are redacted and the payload has its digest. */
export type PreparedEntry = {
  /** `seal` sets seq, time and the previous hash. */
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

/** Validates and redacts a draft in the body that appends it. Sealing a batch afterwards cannot fail. */
export function prepare(
  draft: EntryDraft,
  { redact, salt }: { redact: Redact; salt: () => string },
): PreparedEntry {
  const { type, actor, domain, subject, ids, outcome, data, payload: content } = draft
  if (!entryType.test(type))
    throw new CoworkError(
      'not_recordable',
      `Invalid entry type: "${type}". Use noun.past, as in grant.revoked.`,
    )
  const payload =
    content === undefined ? undefined : sealPayload(redact.toCanonical(content), salt())
  const redacted = data && redact.toCanonical(data)
  // Redacts field by field: the owner's patterns must not change cowork's own terms. Keys are in canonical order, here and
  // below, which makes formatting cheap; undefined fields are omitted.
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

/** Sets seq, time and previous hash of an entry. `prev` of the next entry is this leaf in hex. */
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

/** Takes half the time if the keys are sorted already. */
const formatCanonical = ({ copy, isSorted }: { copy: unknown; isSorted: boolean }) =>
  isSorted ? JSON.stringify(copy) : canonicalJson(copy)

export type IndexColumns = Omit<EntryRow, 'seq' | 'at' | 'type' | 'body' | 'hash'>

/** Extracts the columns that repeat parts of an entry's body for lookups. Verification compares both (L7). */
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

/** Replaces NUL, which PostgreSQL cannot store in a text; the body contains it escaped. */
function column(text: string): string
function column(text: string | undefined): string | null
function column(text: string | undefined): string | null {
  return text?.includes('\u0000') ? text.replaceAll('\u0000', '\u2400') : (text ?? null)
}
