import { CoworkError } from '#base/errors.ts'

const longest = 128

// Control and format characters, private and unassigned ones, invisible fillers, odd spaces: whatever
// makes two names look alike or reorders the text around them on a screen.
const unprintable = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u

/** An agent's id as everything behind the doors sees it: one spelling, printable, 1 to 128 characters. */
export const cleanId = (given: string, from = 'agent_id'): string =>
  clean(
    given,
    (what) =>
      new CoworkError('invalid_agent_id', `The agent's id, given as ${from}, ${what}.`, {
        hint: `Use 1 to ${longest} printable characters, as in "sales-agent".`,
      }),
  )

/** What a person or a passkey is called, by the same rules. */
export const cleanName = (given: string): string =>
  clean(
    given,
    (what) =>
      new CoworkError('invalid_input', `The name ${what}.`, {
        hint: `Use 1 to ${longest} printable characters.`,
      }),
  )

function clean(given: string, invalid: (what: string) => CoworkError): string {
  // Looked at first, because an argument may hold megabytes: a character takes two units at most.
  const isLong = given.length > 2 * longest
  const name = isLong ? '' : given.normalize('NFC').trim()
  if (isLong || Array.from(name).length > longest)
    throw invalid(`is longer than ${longest} characters`)
  if (name === '') throw invalid('is empty')
  if (unprintable.test(name)) throw invalid('holds characters that cannot be shown')
  return name
}
