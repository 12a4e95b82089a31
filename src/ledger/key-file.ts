import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError } from '#base/errors.ts'
import { createKey, loadKey } from './checkpoint.ts'
import type { SigningKey } from './checkpoint.ts'
import { createHeadMac } from './head-mac.ts'
import type { HeadMac } from './head-mac.ts'

export type KeyFiles = { readonly ledgerKey: string; readonly ledgerPublicKey: string }

/** The signing key of this ledger, made on first run. `inStore` is the public key the store was begun with. */
export function loadOrCreateKey(files: KeyFiles, storedKey: string | undefined): SigningKey {
  const expectedKey = storedKey ?? readPublicKey(files)
  if (!existsSync(files.ledgerKey)) {
    if (expectedKey !== undefined)
      throw new CoworkError(
        'ledger_key_missing',
        `The ledger is signed by ${expectedKey}, but ${files.ledgerKey} is not there.`,
        { hint: 'Copy the key from the daemon that began this store, or from a backup.' },
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
      { hint: 'Daemons that share a database share one key: copy the key file of the first.' },
    )
  writePublicKey(files, key)
  return key
}

const readPublicKey = ({ ledgerPublicKey }: KeyFiles): string | undefined =>
  existsSync(ledgerPublicKey) ? readFileSync(ledgerPublicKey, 'utf8').trim() : undefined

/** Beside the store, so that verifying need not trust the key that stands in it. */
function writePublicKey({ ledgerPublicKey }: KeyFiles, { vkey }: SigningKey) {
  if (!existsSync(ledgerPublicKey)) writeFileAtomic(ledgerPublicKey, `${vkey}\n`, 0o644)
}

/** The MAC of the head, for commands that can read the private key; undefined for those that cannot. */
export const readHeadMac = (keyPath: string): HeadMac | undefined =>
  existsSync(keyPath) ? parseHeadMac(readFileSync(keyPath, 'utf8')) : undefined

export function parseHeadMac(pem: string): HeadMac | undefined {
  try {
    return createHeadMac(loadKey(pem))
  } catch {
    return undefined
  }
}
