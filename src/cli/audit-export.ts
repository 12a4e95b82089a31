import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson } from '#base/hash.ts'
import { exportNames } from '#ledger'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'

const pageSize = 1000

/** The ledger as files that `cowork audit verify <folder>` checks without us (L6). */
export async function exportLedger(context: Context, folder: string) {
  const client = createClient(context)
  let signed = await signedNow(client)
  makeEmpty(folder)
  const write = (name: keyof typeof exportNames, values: readonly object[]) =>
    appendFileSync(join(folder, exportNames[name]), jsonLines(values), { mode: 0o600 })
  writeFileSync(join(folder, exportNames.key), `${signed.vkey}\n`)
  write('entries', [])
  write('payloads', [])
  const progress = context.out.progress()
  let after = 0
  for (;;) {
    const last = signed.checkpoints.at(-1)?.size ?? 0
    while (after < last) {
      const limit = Math.min(pageSize, last - after)
      const page = await client.get('/api/ledger', { after, limit, payloads: true })
      write('entries', page.entries)
      write('payloads', page.payloads ?? [])
      // A gap in a broken ledger must not keep us here; verify will name it.
      const { seq } = page.entries.at(-1) ?? { seq: last }
      after = seq
      progress.show(`${after} of ${last} entries written…`)
    }
    // A payload that was erased while we wrote is right only with the entry that says so (L8).
    const erased = await client.get('/api/ledger', { after, type: 'payload.', limit: 1 })
    if (erased.entries.length === 0) break
    signed = await signedNow(client)
  }
  progress.end()
  const { vkey, checkpoints } = signed
  write('checkpoints', checkpoints)
  context.out.data({ folder, entries: after, checkpoints: checkpoints.length, vkey }, () => [
    `${after} entries and ${checkpoints.length} checkpoints are in ${folder}.`,
    `Check them anywhere with \`cowork audit verify ${folder}\`.`,
  ])
}

/** Asking for the proof of the newest entry has it signed, so that what we write is signed to its end. */
async function signedNow(client: Client) {
  const { size } = await client.get('/api/ledger', { limit: 0 })
  if (size > 0) await client.get('/api/ledger/{seq}/proof', { seq: size })
  return client.get('/api/ledger/checkpoints')
}

/** An entry's canonical form is what was hashed. */
const jsonLines = (values: readonly object[]) =>
  values.map((value) => `${canonicalJson(value)}\n`).join('')

function makeEmpty(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0)
    throw usage(`${folder} is not empty.`, 'Name a folder that does not exist yet.')
}
