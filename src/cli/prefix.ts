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
      ids.length > 0 ? { hint: `There is: ${shown(ids.slice(0, 10).join(', '))}.` } : {},
    )
  throw new CoworkError('ambiguous_id', `More than one ${what} begins with ${shown(given)}.`, {
    hint: `Write more of it: ${shown(found.slice(0, 10).join(', '))}.`,
  })
}
