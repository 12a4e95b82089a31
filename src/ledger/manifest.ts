import type { Manifest } from '#base/module.ts'
import { ledgerConfig } from './config.ts'
import { ledgerErrors } from './errors.ts'

export const ledgerManifest = {
  name: 'ledger',
  errors: ledgerErrors,
  config: ledgerConfig,
  entries: {
    'ledger.accepted': 'the owner accepted entries that had no proof, with a reason',
    'ledger.baselined': 'the baseline of the tables in `tables` is complete',
    'payload.erased': 'a person erased the content of entry `subject`, with a reason',
    'payload.expired': 'the content of the entries up to `up_to_seq` passed its age limit',
  },
  load: () => import('./module.ts'),
} as const satisfies Manifest
