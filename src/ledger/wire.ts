import * as z from 'zod'

/** The first seq. A ledger of size n ends with seq n; the leaf index in the tree is seq − 1. */
export const firstSeq = 1
export const entryType = /^[a-z][a-z_]*\.[a-z][a-z_]*$/
export const idNames = ['approval', 'call', 'grant', 'handoff', 'job', 'proposal'] as const
const hexHash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()

/** An entry as it is hashed, stored and exported (L3, L4). */
export const entrySchema = z.strictObject({
  v: z.literal(1),
  seq: z.int().min(firstSeq),
  /** Milliseconds since the epoch; never less than in the previous entry. */
  at: count,
  /** Leaf hash of the previous entry, so that a line-by-line check needs no tree. */
  prev: hexHash,
  type: z.string().regex(entryType),
  actor: z.strictObject({
    kind: z.enum(['agent', 'human', 'system']),
    id: z.string(),
    session: z.string().optional(),
    verified: z.boolean().optional(),
    /** Reported by the client itself: shown, never trusted. */
    client: z
      .strictObject({
        name: z.string(),
        version: z.string(),
        transport: z.string(),
        self_reported: z.literal(true),
      })
      .optional(),
  }),
  domain: z.string().optional(),
  subject: z.string().optional(),
  ids: z.partialRecord(z.enum(idNames), z.string()).optional(),
  outcome: z.string().optional(),
  data: z.record(z.string(), z.json()).optional(),
  /** Salted digest of the payload (L8). */
  payload: hexHash.optional(),
})

export type Entry = z.output<typeof entrySchema>

/** The entries of one call with proofs to one checkpoint, which can be verified offline (L16). */
export const receiptSchema = z.strictObject({
  receipt: z.literal(1),
  call: z.string(),
  vkey: z.string(),
  checkpoint: z.string(),
  entries: z.array(
    z.strictObject({
      index: z.int(),
      entry: z.string().describe('The canonical JSON that was hashed'),
      path: z.array(z.string()).describe('Hashes in base64, from the leaf up'),
    }),
  ),
})

export type Receipt = z.output<typeof receiptSchema>

/** An audit line in the format of File Ops. */
const auditEntry = z.object({
  timestamp: z.string(),
  operation: z.string(),
  path: z.string().optional(),
  domain: z.string().optional(),
  grant_id: z.string().optional(),
  agent_id: z.string(),
  session_id: z.string().optional(),
  success: z.boolean(),
  dry_run: z.boolean().optional(),
  size_bytes: z.number().optional(),
})
export type AuditEntry = z.output<typeof auditEntry>

export const ledgerResults = {
  get_audit_log: z.object({ entries: z.array(auditEntry) }),
  cowork_redact: z.object({ seq: z.number(), erased: z.boolean() }),
}

/** Named, so that the documentation contains it once. */
const entry = entrySchema.meta({ id: 'Entry' })
const payload = z.object({ seq: z.int(), salt: z.string(), body: z.string() })
const checkpoint = z.object({ size: z.int(), at: z.int(), note: z.string() })

export const ledgerAnswers = {
  'GET /api/ledger': z.object({
    size: z.int().describe('Entries in the whole ledger'),
    entries: z.array(entry),
    payloads: z.array(payload).optional(),
  }),
  'GET /api/ledger/checkpoints': z.object({ vkey: z.string(), checkpoints: z.array(checkpoint) }),
  'GET /api/ledger/{seq}': z.object({
    entry,
    payload: z.unknown().optional().describe('Absent if the entry has none or it was erased'),
    hash: z.string().describe('Leaf hash in hex'),
    prev_ok: z.boolean().describe('Whether the previous hash matches'),
  }),
  'GET /api/ledger/{seq}/proof': z.object({
    seq: z.int(),
    entry: z.string().describe('The canonical JSON that was hashed'),
    index: z.int(),
    size: z.int(),
    path: z.array(z.string()).describe('Hashes in base64, from the leaf up'),
    checkpoint: z.string(),
    vkey: z.string(),
  }),
  'GET /api/ledger/receipts/{call}': receiptSchema.meta({ id: 'Receipt' }),
}
