import type { ErrorTable } from '#base/errors.ts'

/** The error codes of this module (0038). */
export const ledgerErrors = {
  ledger_unwritable: { status: 503, exit: 'failed' },
  not_signed_yet: { status: 503, exit: 'failed' },
  clock_went_back: { status: 503, exit: 'failed' },
  not_recordable: { status: 422, exit: 'failed' },
  conflict: { status: 409, exit: 'failed' },
  proof_out_of_range: { status: 422, exit: 'failed' },
  checkpoint_invalid: { status: 422, exit: 'failed' },
  receipt_invalid: { status: 422, exit: 'failed' },
  vkey_invalid: { status: 422, exit: 'usage' },
  redaction_pattern_invalid: { status: 422, exit: 'failed' },
  ledger_cut: { status: 500, exit: 'failed' },
  ledger_damaged: { status: 500, exit: 'failed' },
  ledger_head_changed: { status: 500, exit: 'failed' },
  ledger_key_differs: { status: 500, exit: 'failed' },
  ledger_key_invalid: { status: 500, exit: 'failed' },
  ledger_key_missing: { status: 500, exit: 'failed' },
  ledger_unproven: { status: 500, exit: 'failed' },
} as const satisfies ErrorTable

type Declared = typeof ledgerErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
