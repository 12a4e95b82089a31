import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import type { PathRequest } from '#base/tool.ts'

/** Shared schemas of the file tools. Descriptions are short, because every agent reads each word of a schema (FT9). */

export const reads = { toolset: 'files', effect: 'read', by: 'anyone' } as const
export const writes = { toolset: 'files', effect: 'write', by: 'anyone' } as const

export const path = z.string().describe('In the workspace, or absolute')
export const cursor = z.string().optional()
export const limit = effort(z.int().min(1).max(10_000)).optional()

export const readsPath = (input: { readonly path: string }): readonly PathRequest[] => [
  { path: input.path, need: 'read' },
]

export const formatTime = (at: number): string => formatRfc3339(at)

/** Escapes a file name in text for a model, so that the name cannot imitate text of cowork (PV8). */
export const escapeName = (name: string): string => sanitizeText(name, 1000)

export const moreHint = (next: string | undefined): readonly string[] =>
  next === undefined ? [] : [`[Truncated. Repeat the call with "cursor": ${toSafeJson(next)}]`]

/** The default reply size; larger results continue with a cursor (SV12). */
const defaultReplyBytes = 25_000

/**
 * The maximum reply size. Clients disconnect on a message of more than 10 MiB, and base64 encodes three bytes as four
 * characters.
 */
export const maxReplyBytes = 7_000_000

/** The maximum for a list, which a reply contains twice: as text and as structured content. */
const maxListBytes = maxReplyBytes / 2

/** Returns the items that fit in a reply, at least one. An explicit limit allows the maximum reply size. */
export function takeFitting<T>(
  items: readonly T[],
  getBytes: (item: T) => number = (item) => Buffer.byteLength(JSON.stringify(item)),
  hasExplicitLimit = false,
): readonly T[] {
  const maxBytes = hasExplicitLimit ? maxListBytes : defaultReplyBytes
  let bytes = 0
  const count = items.findIndex((item) => (bytes += getBytes(item) + 1) > maxBytes)
  return count === -1 ? items : items.slice(0, Math.max(1, count))
}

/** Truncates a diff to the default reply size. An empty diff means no differences, so a hidden diff is not empty. */
export function truncateDiff(diff: string | undefined): string {
  if (diff === undefined) return '[changed; diff hidden]'
  if (diff.length <= defaultReplyBytes) return diff
  return `${diff.slice(0, diff.lastIndexOf('\n', defaultReplyBytes))}\n[diff truncated]`
}

/** Returns the warning for a sensitive file (PV5); agents also get an instruction. */
export const sensitiveWarning = ({ kind }: Caller): string =>
  `Sensitive file.${kind === 'agent' ? ' Do not repeat its content.' : ''}`
