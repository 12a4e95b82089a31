import { CoworkError } from '#base/errors.ts'
import { shown } from './output.ts'

/** The id that is meant: the one written in full, or the only one that begins so (K2). */
export function byPrefix(given: string, ids: readonly string[], what: string): string {
  if (ids.includes(given)) return given
  const found = given === '' ? [] : ids.filter((id) => id.startsWith(given))
  if (found.length === 1 && found[0] !== undefined) return found[0]
  if (found.length === 0)
    throw new CoworkError(
      'not_found',
      `There is no ${what} named ${shown(given)}.`,
      ids.length > 0 ? { hint: `There is: ${listed(ids)}.` } : {},
    )
  throw new CoworkError('ambiguous_id', `More than one ${what} begins with ${shown(given)}.`, {
    hint: `Write more of it: ${listed(found)}.`,
  })
}

const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const mostListed = 10

/** Names as they are; ids that nobody reads to their end as far as tells them apart. */
function listed(ids: readonly string[]): string {
  const short = ids.every((id) => made.test(id)) ? shortIds(ids) : String
  const more = ids.length > mostListed ? `, and ${ids.length - mostListed} more` : ''
  return `${shown(ids.slice(0, mostListed).map(short).join(', '))}${more}`
}

const shortestShown = 8

/** How much of each id tells them apart; never less than a person can recognise. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  for (let length = shortestShown; length < 36; length++)
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length)
      return (id) => id.slice(0, length)
  return (id) => id
}
