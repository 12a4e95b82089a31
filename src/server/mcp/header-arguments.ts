import { isUtf8 } from 'node:buffer'
import { CoworkError } from '#base/errors.ts'
import type { Tool } from '#base/tool.ts'
import { toWireTool } from './wire.ts'

/** An argument that a client repeats as a header, for whoever routes without reading bodies (SEP-2243). */
type Mirrored = { readonly path: readonly string[]; readonly header: string }

/** Refuses a call whose headers and arguments disagree: what was routed must be what is run. */
export function checkHeaderArguments(tool: Tool, args: unknown, headers: Headers): void {
  for (const { path, header } of findMirrored(toWireTool(tool).inputSchema)) {
    const value = path.reduce(fieldOf, args)
    if (!isPrimitive(value)) continue
    const sent = decoded(headers.get(header))
    const isSame = typeof value === 'number' ? sent && Number(sent) === value : sent === `${value}`
    if (!isSame)
      throw new CoworkError(
        'header_mismatch',
        `${header} does not say what ${path.join('.')} says.`,
        {
          hint: `Send the argument in the header ${header} as well, in Base64 if it is not plain ASCII.`,
        },
      )
  }
}

function findMirrored(schema: unknown, path: readonly string[] = []): Mirrored[] {
  const header = fieldOf(schema, 'x-mcp-header')
  const properties = fieldOf(schema, 'properties')
  return [
    ...(typeof header === 'string' ? [{ path, header: `Mcp-Param-${header}` }] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, sub]) =>
      findMirrored(sub, [...path, name]),
    ),
  ]
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined

const isPrimitive = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/** `=?base64?…?=` carries what a header cannot; only its canonical spelling is taken. */
function decoded(value: string | null): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(value ?? '')?.[1]
  if (base64 === undefined) return value ?? undefined
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
