/** A line of a change: `+` is the new value, `−` the last approved value, blank is unchanged. */
export type Line = {
  readonly sign: '+' | '−' | ' '
  /** Absent on the continuation lines of a long text. */
  readonly field?: string
  readonly text: string
}

type Leaf = readonly [field: string, value: unknown]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns nested fields by dotted path, as policies name them (M4); lists are not split. */
export function flattenJson(value: unknown, path = ''): Leaf[] {
  if (!isObject(value) || (path !== '' && Object.keys(value).length === 0)) return [[path, value]]
  return Object.entries(value).flatMap(([name, inner]) =>
    flattenJson(inner, path === '' ? name : `${path}.${name}`),
  )
}

const isSameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Compares a change with the last approved change on the same target. */
export function changeLines(before: unknown, change: unknown): Line[] {
  if (!isObject(change)) return valueLines('+', undefined, change)
  const previousValues = new Map(isObject(before) ? flattenJson(before) : [])
  return flattenJson(change).flatMap(([field, value]) => {
    if (!previousValues.has(field)) return valueLines('+', field, value)
    const previous = previousValues.get(field)
    if (isSameJson(previous, value)) return valueLines(' ', field, value)
    return [...valueLines('−', field, previous), ...valueLines('+', field, value)]
  })
}

/** Formats a value without a comparison, such as the arguments of a call. */
export const toLines = (value: unknown): Line[] =>
  isObject(value)
    ? flattenJson(value).flatMap(([field, inner]) => valueLines(' ', field, inner))
    : valueLines(' ', undefined, value)

/** Shows a text of several lines below its field; other values are JSON. */
function valueLines(sign: Line['sign'], field: string | undefined, value: unknown): Line[] {
  const fieldPart = field !== undefined && { field }
  if (typeof value !== 'string' || !value.includes('\n'))
    return [{ sign, ...fieldPart, text: JSON.stringify(value) ?? '' }]
  const lines = value.split('\n').map((text) => ({ sign, text }))
  return [{ sign, ...fieldPart, text: '' }, ...lines]
}

export type EditableField = {
  readonly name: string
  readonly value: string | number | boolean | null
}

/** Returns the fields if they can be edited one by one: at most 12, without nesting. */
export function toEditableFields(change: unknown): EditableField[] | undefined {
  if (!isObject(change)) return undefined
  const fields = Object.entries(change).map(([name, value]) => ({ name, value }))
  const isPlain = (field: { name: string; value: unknown }): field is EditableField =>
    field.value === null || ['string', 'number', 'boolean'].includes(typeof field.value)
  return fields.length > 0 && fields.length <= 12 && fields.every(isPlain) ? fields : undefined
}

/** Parses the text as the original type of the field; undefined if the text is invalid. */
export function parseFieldValue(
  was: EditableField['value'],
  text: string,
): EditableField['value'] | undefined {
  if (typeof was === 'number') {
    const number = Number(text.trim())
    return text.trim() !== '' && Number.isFinite(number) ? number : undefined
  }
  if (typeof was === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  return was === null && text === '' ? null : text
}

export function parseJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
