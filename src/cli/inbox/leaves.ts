import { plain } from '../plain.ts'

/** The values in a JSON value by their dotted path; each as JSON, which shows what is a text and what is not. */
export function leavesOf(value: unknown, path = ''): [path: string, value: string][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return [[path, plain(JSON.stringify(value) ?? 'null')]]
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, path === '' ? name : `${path}.${name}`),
  )
}
