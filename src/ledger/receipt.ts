import { CoworkError, errorMessage } from '#base/errors.ts'
import { verifyCheckpoint } from './checkpoint.ts'
import { entrySchema } from './model.ts'
import type { Entry } from './model.ts'
import { verifyInclusion } from './proof.ts'
import { leafHash } from './tree.ts'
import { receiptSchema } from './wire.ts'
import type { Receipt } from './wire.ts'

/** Prefixes of entry types that belong to a call through the id of its approval or proposal. */
export const joinedNouns = ['approval.', 'proposal.', 'permission.', 'handoff.', 'override.']

const joiningIds = ['approval', 'proposal'] as const

/** Collects the ids of the approvals and proposals in the entries of a call. */
export const collectJoiningIds = (entries: readonly Entry[]): Set<string> =>
  new Set(entries.flatMap(({ ids }) => joiningIds.flatMap((name) => ids?.[name] ?? [])))

export const isJoined = ({ type, ids }: Entry, joining: ReadonlySet<string>): boolean =>
  joinedNouns.some((noun) => type.startsWith(noun)) &&
  joiningIds.some((name) => joining.has(ids?.[name] ?? ''))

/** Formats a receipt. There is only one valid format, so that verification detects a change of any byte. */
export const formatReceipt = ({ receipt, call, vkey, checkpoint, entries }: Receipt): string =>
  `${JSON.stringify({ receipt, call, vkey, checkpoint, entries: entries.map(({ index, entry, path }) => ({ index, entry, path })) }, null, 2)}\n`

export type VerifiedReceipt = {
  readonly call: string
  readonly vkey: string
  readonly size: number
  readonly entries: readonly Entry[]
}

/** Verifies a receipt with only the public key. Throws if any byte was changed. */
export function verifyReceipt(file: Uint8Array, trusted?: string): VerifiedReceipt {
  const receipt = parseReceipt(file)
  const { call, checkpoint } = receipt
  const vkey = trusted ?? receipt.vkey
  if (receipt.vkey !== vkey) throw receiptError(`it names the key ${receipt.vkey}`)
  const { size, root } = verifyCheckpoint(checkpoint, vkey)
  const entries = receipt.entries.map(({ index, entry, path }) => {
    const hashes = path.map((hash) => Buffer.from(hash, 'base64'))
    const isStrict = hashes.every((hash, i) => hash.toString('base64') === path[i])
    if (!isStrict || !verifyInclusion(leafHash(entry), index, size, hashes, root))
      throw receiptError(`the proof of entry ${index + 1} does not lead to the checkpoint`)
    const parsed = entrySchema.parse(JSON.parse(entry))
    if (parsed.seq !== index + 1)
      throw receiptError(`expected entry ${index + 1}, found entry ${parsed.seq}`)
    return parsed
  })
  const own = entries.filter(({ ids }) => ids?.call === call)
  const joining = collectJoiningIds(own)
  const foreign = entries.find((entry) => !own.includes(entry) && !isJoined(entry, joining))
  if (own.length === 0) throw receiptError(`none of its entries belongs to call ${call}`)
  if (foreign) throw receiptError(`entry ${foreign.seq} does not belong to call ${call}`)
  if (entries.some(({ seq }, i) => seq <= (entries[i - 1]?.seq ?? 0)))
    throw receiptError('its entries are not in the order of the ledger')
  return { call, vkey, size, entries }
}

function parseReceipt(file: Uint8Array): Receipt {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file)
    const receipt = receiptSchema.parse(JSON.parse(text))
    if (formatReceipt(receipt) === text) return receipt
  } catch (error) {
    throw receiptError(`it is not a receipt (${errorMessage(error).split('\n')[0] ?? ''})`)
  }
  throw receiptError('it does not have the format of `cowork audit receipt`')
}

const receiptError = (why: string) =>
  new CoworkError('receipt_invalid', `Invalid receipt: ${why}.`, {
    hint: 'Request the receipt again and compare the public key with a trusted copy.',
  })
