import { configJsonSchema } from './schema.ts'

/** A node of the published schema, with the facts that the loader needs. */
type Shape = {
  type?: string
  properties?: Record<string, Shape>
  /** The value schema of a mapping with arbitrary keys. */
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

const childShapes = (shapes: Shape[], key: string | number): Shape[] =>
  shapes
    .flatMap(({ items, properties = {}, additionalProperties: others }) => {
      if (typeof key === 'number') return items ?? []
      if (Object.hasOwn(properties, key)) return properties[key] ?? []
      return typeof others === 'object' ? others : []
    })
    .flatMap(alternatives)

/** Returns all possible shapes of the value at this path; a union such as `grants` has several. */
const getShapes = (path: ConfigPath): Shape[] => path.reduce<Shape[]>(childShapes, roots())

export const listKeys = (path: ConfigPath): string[] => [
  ...new Set(getShapes(path).flatMap((shape) => Object.keys(shape.properties ?? {}))),
]

export const acceptsType = (path: ConfigPath, type: string): boolean =>
  getShapes(path).some((shape) => shape.type === type)

export const isSecret = (path: ConfigPath): boolean =>
  getShapes(path).some((shape) => shape['x-secret'])

/** Copies `value` and replaces every string that has the mark. */
export function mapMarked<T>(
  mark: SchemaMark,
  value: T,
  replace: (text: string, path: ConfigPath) => string,
): T {
  const visit = (at: unknown, shapes: Shape[], path: ConfigPath): unknown => {
    if (typeof at === 'string') return shapes.some((shape) => shape[mark]) ? replace(at, path) : at
    if (typeof at !== 'object' || at === null || shapes.length === 0) return at
    const child = (key: string | number, item: unknown) =>
      visit(item, childShapes(shapes, key), [...path, key])
    if (Array.isArray(at)) return at.map((item: unknown, index) => child(index, item))
    return Object.fromEntries(Object.entries(at).map(([key, item]) => [key, child(key, item)]))
  }
  // Strings are replaced by strings, so the type stays the same.
  return visit(value, roots(), []) as T
}
