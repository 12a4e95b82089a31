import { isDeepStrictEqual } from 'node:util'
import { CoworkError } from '#base/errors.ts'
import { isRecord } from '#base/json.ts'

/** The replacement text of a redacted credential. */
const redactionMark = '[redacted]'

type Fields = Readonly<Record<string, unknown>>
type Shown = (name: string) => string

/**
 * Applies a person's edit of the redacted copy to the real arguments, field by field (B3). An
 * unchanged field keeps its real value. Throws if the redaction mark would become part of a real
 * value. Pure.
 */
export function restoreEdit(
  real: unknown,
  shown: unknown,
  edited: unknown,
  nameOf: Shown,
): unknown {
  return restore(real, shown, edited, nameOf, '')
}

function restore(
  real: unknown,
  shown: unknown,
  edited: unknown,
  nameOf: Shown,
  at: string,
): unknown {
  if (isDeepStrictEqual(shown, edited)) return real
  if (isRecord(real) && isRecord(shown) && isRecord(edited))
    return restoreFields(real, shown, edited, nameOf, at)
  if (Array.isArray(real) && Array.isArray(shown) && Array.isArray(edited))
    return restoreItems(real, shown, edited, nameOf, at)
  // Without a redacted value here, the mark comes from the agent or the person and is ordinary
  // text.
  if (!isDeepStrictEqual(real, shown)) assertNoMark(edited, at)
  return edited
}

function restoreFields(real: Fields, shown: Fields, edited: Fields, nameOf: Shown, at: string) {
  const realNames = new Map(Object.keys(real).map((name) => [nameOf(name), name]))
  return Object.fromEntries(
    Object.entries(edited).map(([name, value]) => {
      const path = at === '' ? name : `${at}.${name}`
      const known = realNames.get(name)
      if (known !== undefined && Object.hasOwn(shown, name))
        return [known, restore(real[known], shown[name], value, nameOf, path)]
      assertNoMark({ [name]: value }, path)
      return [name, value]
    }),
  )
}

/** Matches items by index, or by their redacted content if items were added or removed. */
function restoreItems(
  real: readonly unknown[],
  shown: readonly unknown[],
  edited: readonly unknown[],
  nameOf: Shown,
  at: string,
) {
  if (edited.length === shown.length)
    return edited.map((item, i) => restore(real[i], shown[i], item, nameOf, `${at}[${i}]`))
  const left = shown.map((item, i) => ({ item, i }))
  return edited.map((item, place) => {
    const found = left.findIndex((one) => isDeepStrictEqual(one.item, item))
    const [same] = found === -1 ? [] : left.splice(found, 1)
    if (same) return real[same.i]
    assertNoMark(item, `${at}[${place}]`)
    return item
  })
}

function assertNoMark(value: unknown, at: string): void {
  if (!JSON.stringify(value ?? null).includes(redactionMark)) return
  throw new CoworkError(
    'redacted_edit',
    `Cannot write ${redactionMark} into ${at === '' ? 'the change' : at}.`,
    {
      hint: 'Leave the field unchanged to keep its real value, or enter the complete value.',
    },
  )
}
