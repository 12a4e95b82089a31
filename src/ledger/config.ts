import * as z from 'zod'
import { filePath, regexPattern, integer } from '#base/config/field-types.ts'

const ledger = z
  .strictObject({
    key_path: filePath
      .default('ledger.key')
      .describe(
        'Private key that signs checkpoints, created on the first start with mode 0600. Default ledger.key in the state directory.',
      ),
    checkpoint_copies: z
      .union([filePath, z.array(filePath).min(1)], 'a path or a list of paths')
      .default('checkpoints')
      .transform((folders) => (typeof folders === 'string' ? [folders] : folders))
      .describe(
        'One or more folders that receive a copy of every checkpoint, for example on another disk. Default checkpoints in the state directory.',
      ),
  })
  .prefault({})
  .describe('The ledger and its proofs.')

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
        'Log of file operations as JSON lines. Default logs/audit.jsonl in the state directory.',
      ),
    max_log_size_mb: integer(1)
      .default(100)
      .describe('Size at which a mirror is rotated, in MB. Default 100.'),
    payload_days: integer(0)
      .default(90)
      .describe(
        'Retention of redacted arguments for replay and review, in days; 0 keeps them until a person erases them. Default 90.',
      ),
    redact: z
      .array(regexPattern)
      .default([])
      .describe(
        'Additional regular expressions (RE2) whose matches are redacted in every entry and log line.',
      ),
  })
  .prefault({})
  .describe('Copies of the ledger for people and tools.')

export const ledgerConfig = { ledger, audit }
