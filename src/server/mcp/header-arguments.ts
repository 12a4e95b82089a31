import { isUtf8 } from 'node:buffer'
import { CoworkError } from '#base/errors.ts'
import type { Tool } from '#base/tool.ts'
import { toWireTool } from './wire.ts'

/**
 * An argument that a client also sends as a header, for routers that do not parse bodies
 * (SEP-2243).
 */
type HeaderArgument = { readonly path: readonly string[]; readonly header: string }

/** Throws if headers and arguments differ: a router must see the call that runs. */
export function checkHeaderArguments(tool: Tool, args: unknown, headers: Headers): void {
  for (const { path, header } of findHeaderArguments(toWireTool(tool).inputSchema)) {
    const value = path.reduce(getField, args)
    if (!isPrimitive(value)) continue
    const sent = decodeHeader(headers.get(header))
    const isSame = typeof value === 'number' ? sent && Number(sent) === value : sent === `${value}`
    if (!isSame)
      throw new CoworkError(
        'header_mismatch',
        `Header ${header} does not match the argument ${path.join('.')}.`,
        {
          hint: `Send the same value in the header ${header}, in Base64 if it is not plain ASCII.`,
        },
      )
  }
}

function findHeaderArguments(schema: unknown, path: readonly string[] = []): HeaderArgument[] {
  const header = getField(schema, 'x-mcp-header')
  const properties = getField(schema, 'properties')
  return [
    ...(typeof header === 'string' ? [{ path, header: `Mcp-Param-${header}` }] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, sub]) =>
      findHeaderArguments(sub, [...path, name]),
    ),
  ]
}

const getField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined

const isPrimitive = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/** Decodes `=?base64?…?=` values; only the canonical encoding is accepted. */
function decodeHeader(value: string | null): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(value ?? '')?.[1]
  if (base64 === undefined) return value ?? undefined
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
