import { mixesScripts, toSkeleton } from '#base/confusables.ts'
import { CoworkError } from '#base/errors.ts'

const maxLength = 128

// Control, format, private-use and unassigned characters, invisible fillers and unusual spaces: they make names look
// alike or reorder the text around them. U+2800 (blank Braille) and U+1D159 (null notehead) are blank.
const unprintable =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?! )\p{Zs}|^\p{M}/u

/** Names that the ledger and the console use for actors other than people and agents. */
const reservedSkeletons = new Set(
  ['cowork', 'system', 'trust', 'unverified', 'anonymous', 'nobody', 'policy'].map(toSkeleton),
)

/** Returns whether a name looks like a reserved name. */
export const isReserved = (name: string): boolean =>
  reservedSkeletons.has(toSkeleton(name.replaceAll(/[^\p{L}\p{N}]/gu, '')))

/** Normalizes an agent id: NFC, printable, 1 to 128 characters. Code behind the endpoints only sees normalized ids. */
export function normalizeAgentId(input: string, from = 'agent_id'): string {
  const invalid = (what: string) =>
    new CoworkError('invalid_agent_id', `Invalid agent id in ${from}: it ${what}.`, {
      hint: `Use 1 to ${maxLength} printable characters, as in "sales-agent".`,
    })
  const id = normalize(input, invalid)
  if (id.normalize('NFKC') !== id || mixesScripts(id))
    throw invalid('contains characters that look like others')
  return id
}

/** Normalizes an id for a lookup: agents of older versions may have an id that is invalid today. */
export const normalizeStoredId = (input: string): string => input.normalize('NFC').trim()

/** Rejects reserved names of new people, new agents and unverified callers. */
export function assertNotReserved(name: string): void {
  if (isReserved(name))
    throw new CoworkError('invalid_input', `Reserved name: ${JSON.stringify(name)}.`, {
      hint: 'Use another name.',
    })
}

/** Normalizes the name of a person or a passkey. */
export const normalizeName = (input: string): string =>
  normalize(
    input,
    (what) =>
      new CoworkError('invalid_input', `Invalid name: it ${what}.`, {
        hint: `Use 1 to ${maxLength} printable characters.`,
      }),
  )

function normalize(input: string, invalid: (what: string) => CoworkError): string {
  // Checked first, because an argument may have megabytes. A character takes at most two UTF-16 units.
  const isLong = input.length > 2 * maxLength
  const name = isLong ? '' : input.normalize('NFC').trim()
  if (isLong || Array.from(name).length > maxLength)
    throw invalid(`is longer than ${maxLength} characters`)
  if (name === '') throw invalid('is empty')
  if (unprintable.test(name)) throw invalid('contains characters that cannot be displayed')
  return name
}
