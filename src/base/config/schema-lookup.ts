import { configJsonSchema } from './schema.ts'

/** One place in the published schema: what the loader needs to know about a key besides its validity. */
type Shape = {
  type?: string
  properties?: Record<string, Shape>
  /** What every key of a mapping with names of its own may hold. */
  additionalProperties?: Shape | boolean
  items?: Shape
  anyOf?: Shape[]
  oneOf?: Shape[]
  'x-path'?: boolean
  'x-secret'?: boolean
}
export type SchemaMark = 'x-path' | 'x-secret'
export type ConfigPath = readonly (string | number)[]

let built: Shape[] | undefined
const roots = (): Shape[] => (built ??= alternatives(configJsonSchema()))

const alternatives = (shape: Shape): Shape[] => [
  shape,
  ...[...(shape.anyOf ?? []), ...(shape.oneOf ?? [])].flatMap(alternatives),
]

const below = (shapes: Shape[], key: string | number): Shape[] =>
  shapes
    .flatMap(({ items, properties = {}, additionalProperties: others }) => {
      if (typeof key === 'number') return items ?? []
      if (Object.hasOwn(properties, key)) return properties[key] ?? []
      return typeof others === 'object' ? others : []
    })
    .flatMap(alternatives)

/** All shapes a value at this path may have; a union such as `grants` gives several. */
const shapesAt = (path: ConfigPath): Shape[] => path.reduce<Shape[]>(below, roots())

export const listKeys = (path: ConfigPath): string[] => [
  ...new Set(shapesAt(path).flatMap((shape) => Object.keys(shape.properties ?? {}))),
]

export const acceptsType = (path: ConfigPath, type: string): boolean =>
  shapesAt(path).some((shape) => shape.type === type)

export const isSecret = (path: ConfigPath): boolean =>
  shapesAt(path).some((shape) => shape['x-secret'])

/** A copy of `value` in which every text that carries the mark is replaced. */
export function mapMarked<T>(
  mark: SchemaMark,
  value: T,
  replace: (text: string, path: ConfigPath) => string,
): T {
  const visit = (at: unknown, shapes: Shape[], path: ConfigPath): unknown => {
    if (typeof at === 'string') return shapes.some((shape) => shape[mark]) ? replace(at, path) : at
    if (typeof at !== 'object' || at === null || shapes.length === 0) return at
    const child = (key: string | number, it: unknown) =>
      visit(it, below(shapes, key), [...path, key])
    if (Array.isArray(at)) return at.map((item: unknown, index) => child(index, item))
    return Object.fromEntries(Object.entries(at).map(([key, it]) => [key, child(key, it)]))
  }
  // Texts become texts and nothing else changes, so the type stays what it was.
  return visit(value, roots(), []) as T
}
