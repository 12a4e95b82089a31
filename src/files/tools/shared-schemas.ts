import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import type { PathRequest } from '#base/tool.ts'

/** What the tools of this folder share. Bare types: every word of a schema is read by every agent (FT9). */

export const reads = { toolset: 'files', effect: 'read', by: 'anyone' } as const
export const writes = { toolset: 'files', effect: 'write', by: 'anyone' } as const

export const path = z.string().describe('In the workspace, or full')
export const cursor = z.string().optional()
export const limit = effort(z.int().min(1).max(10_000)).optional()

export const readsPath = (input: { readonly path: string }): readonly PathRequest[] => [
  { path: input.path, need: 'read' },
]

export const formatTime = (at: number): string => formatRfc3339(at)

/** Names in texts for a model: nothing in them can pass for our own words (PV8). */
export const escapeName = (name: string): string => sanitizeText(name, 1000)

export const moreHint = (next: string | undefined): readonly string[] =>
  next === undefined ? [] : [`[There is more: repeat the call with "cursor": ${toSafeJson(next)}]`]

/** A reply beyond this goes on by cursor, unless more is asked for (SV12). */
const usualBytes = 25_000

/**
 * What one answer may hold, whatever was asked for. Clients hang up on a message of more than 10 MiB, and base64
 * writes four letters for three bytes.
 */
export const maxReplyBytes = 7_000_000

/** The same of a list, which is told twice: as text and in the structure. */
const mostListBytes = maxReplyBytes / 2

/** As many of these as fit in a usual reply, or in any where more is asked for; at least one. */
export function takeFitting<T>(
  items: readonly T[],
  bytesOf: (item: T) => number = (item) => Buffer.byteLength(JSON.stringify(item)),
  isMoreAskedFor = false,
): readonly T[] {
  const mostBytes = isMoreAskedFor ? mostListBytes : usualBytes
  let bytes = 0
  const most = items.findIndex((item) => (bytes += bytesOf(item) + 1) > mostBytes)
  return most === -1 ? items : items.slice(0, Math.max(1, most))
}

/** A diff up to the usual size of a reply. Empty it says that nothing differs, so one that is not shown is not empty. */
export function truncateDiff(diff: string | undefined): string {
  if (diff === undefined) return '[it differs; what does is not shown]'
  if (diff.length <= usualBytes) return diff
  return `${diff.slice(0, diff.lastIndexOf('\n', usualBytes))}\n[more differs than is shown]`
}

/** What is said of a content whose name speaks of secrets (PV5). People know what to do with theirs. */
export const sensitiveWarning = ({ kind }: Caller): string =>
  `The name of this file is one of those that hold secrets.${kind === 'agent' ? ' Do not repeat what is in it.' : ''}`
