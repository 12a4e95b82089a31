import * as z from 'zod'
import { filePath, regexPattern, integer } from '#base/config/field-types.ts'

const ledger = z
  .strictObject({
    key_path: filePath
      .default('ledger.key')
      .describe(
        'Private key that signs checkpoints, made on first run with mode 0600. Default ledger.key in the state directory.',
      ),
    checkpoint_copies: z
      .union([filePath, z.array(filePath).min(1)], 'a path, or a list of paths')
      .default('checkpoints')
      .transform((folders) => (typeof folders === 'string' ? [folders] : folders))
      .describe(
        'Folder outside the store that gets a copy of every checkpoint, or a list of folders, such as one on another disk. Default checkpoints in the state directory.',
      ),
  })
  .prefault({})
  .describe('The append-only record and its proofs.')

const audit = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Write the JSONL copies of the ledger. `false` stops the copies, never the ledger. Default true.',
      ),
    log_path: filePath
      .default('logs/audit.jsonl')
      .describe(
        'Log of file operations, one a line (seed 004). Default logs/audit.jsonl in the state directory.',
      ),
    max_log_size_mb: integer(1)
      .default(100)
      .describe('Size at which a mirror is rotated, in MB. Default 100.'),
    payload_days: integer(0)
      .default(90)
      .describe(
        'How long redacted arguments stay readable for replay and review, in days; 0 keeps them until they are erased by hand. Default 90.',
      ),
    redact: z
      .array(regexPattern)
      .default([])
      .describe(
        'Regular expressions (RE2) whose matches are blanked in every entry and log line, besides the built-in ones.',
      ),
  })
  .prefault({})
  .describe('Copies of the ledger for people and tools.')

export const ledgerConfig = { ledger, audit }
