import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError } from '#base/errors.ts'
import { createKey, loadKey } from './checkpoint.ts'
import type { SigningKey } from './checkpoint.ts'
import { createHeadMac } from './head-mac.ts'
import type { HeadMac } from './head-mac.ts'

export type KeyFiles = { readonly ledgerKey: string; readonly ledgerPublicKey: string }

/** Loads the signing key of this ledger, or creates it on the first start. `storedKey` is the public key in the store. */
export function loadOrCreateKey(files: KeyFiles, storedKey: string | undefined): SigningKey {
  const expectedKey = storedKey ?? readPublicKey(files)
  if (!existsSync(files.ledgerKey)) {
    if (expectedKey !== undefined)
      throw new CoworkError(
        'ledger_key_missing',
        `Not found: ${files.ledgerKey}. The ledger is signed by ${expectedKey}.`,
        { hint: 'Copy the key from the daemon that created this store, or from a backup.' },
      )
    const { key, pem } = createKey()
    writeFileAtomic(files.ledgerKey, pem)
    writePublicKey(files, key)
    return key
  }
  chmodSync(files.ledgerKey, 0o600)
  const key = loadKey(readFileSync(files.ledgerKey, 'utf8'))
  if (expectedKey !== undefined && expectedKey !== key.vkey)
    throw new CoworkError(
      'ledger_key_differs',
      `The ledger is signed by ${expectedKey}, but ${files.ledgerKey} is the key ${key.vkey}.`,
      {
        hint: 'Copy the key file of the first daemon: daemons that share a database share one key.',
      },
    )
  writePublicKey(files, key)
  return key
}

const readPublicKey = ({ ledgerPublicKey }: KeyFiles): string | undefined =>
  existsSync(ledgerPublicKey) ? readFileSync(ledgerPublicKey, 'utf8').trim() : undefined

/** Writes the public key to a file, so that verification does not need to trust the key in the store. */
function writePublicKey({ ledgerPublicKey }: KeyFiles, { vkey }: SigningKey) {
  if (!existsSync(ledgerPublicKey)) writeFileAtomic(ledgerPublicKey, `${vkey}\n`, 0o644)
}

/** Reads the MAC key of the head, or returns undefined without access to the private key. */
export const readHeadMac = (keyPath: string): HeadMac | undefined =>
  existsSync(keyPath) ? parseHeadMac(readFileSync(keyPath, 'utf8')) : undefined

export function parseHeadMac(pem: string): HeadMac | undefined {
  try {
    return createHeadMac(loadKey(pem))
  } catch {
    return undefined
  }
}
