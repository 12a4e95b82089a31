import { mixesScripts, toSkeleton } from '#base/confusables.ts'
import { CoworkError } from '#base/errors.ts'

const maxLength = 128

// Control and format characters, private and unassigned ones, invisible fillers, odd spaces: whatever
// makes two names look alike or reorders the text around them on a screen.
// U+2800 is a letter of Braille without dots, U+1D159 a note without a head: both are blank.
const unprintable =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?! )\p{Zs}|^\p{M}/u

/** Words that the ledger and the console show where a person or an agent stands. */
const reservedSkeletons = new Set(
  ['cowork', 'system', 'trust', 'unverified', 'anonymous', 'nobody', 'policy'].map(toSkeleton),
)

/** Whether a name would be read as a word for what is no person and no agent. */
export const isReserved = (name: string): boolean =>
  reservedSkeletons.has(toSkeleton(name.replaceAll(/[^\p{L}\p{N}]/gu, '')))

/** An agent's id as everything behind the doors sees it: one spelling, printable, 1 to 128 characters. */
export function normalizeAgentId(given: string, from = 'agent_id'): string {
  const invalid = (what: string) =>
    new CoworkError('invalid_agent_id', `The agent's id, given as ${from}, ${what}.`, {
      hint: `Use 1 to ${maxLength} printable characters, as in "sales-agent".`,
    })
  const id = normalize(given, invalid)
  if (id.normalize('NFKC') !== id || mixesScripts(id))
    throw invalid('holds characters that imitate others')
  return id
}

/** An id that is only looked up: agents of older versions may have one that is refused today. */
export const normalizeStoredId = (given: string): string => given.normalize('NFC').trim()

/** For names of new people and new agents, and for ids without a token. */
export function assertNotReserved(name: string): void {
  if (isReserved(name))
    throw new CoworkError(
      'invalid_input',
      `The name ${JSON.stringify(name)} is reserved: cowork itself signs with it.`,
      { hint: 'Use another name.' },
    )
}

/** What a person or a passkey is called, by the same rules. */
export const normalizeName = (given: string): string =>
  normalize(
    given,
    (what) =>
      new CoworkError('invalid_input', `The name ${what}.`, {
        hint: `Use 1 to ${maxLength} printable characters.`,
      }),
  )

function normalize(given: string, invalid: (what: string) => CoworkError): string {
  // Looked at first, because an argument may hold megabytes: a character takes two units at most.
  const isLong = given.length > 2 * maxLength
  const name = isLong ? '' : given.normalize('NFC').trim()
  if (isLong || Array.from(name).length > maxLength)
    throw invalid(`is longer than ${maxLength} characters`)
  if (name === '') throw invalid('is empty')
  if (unprintable.test(name)) throw invalid('holds characters that cannot be shown')
  return name
}
