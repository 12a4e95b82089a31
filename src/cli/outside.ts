import { existsSync, readFileSync } from 'node:fs'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { readCheckpointCopies, readHeadMac } from '#ledger'
import type { Context } from './context.ts'

/** Facts about the ledger from outside its store: somebody who can rewrite the store could put another key there. */
export function outsideOf({ paths }: Context, { ledger }: Config) {
  const { ledgerPublicKey: file } = paths
  const published = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  const mac = readHeadMac(ledger.key_path)
  if (mac && published !== undefined && published !== mac.vkey)
    throw new CoworkError(
      'ledger_key_differs',
      `${file} is not the public key of ${ledger.key_path}: one of them was replaced.`,
      { hint: 'Compare both with a backup or with a public key that you kept elsewhere.' },
    )
  return {
    outside: readCheckpointCopies(ledger.checkpoint_copies),
    vkey: published ?? mac?.vkey,
    mac,
  }
}
