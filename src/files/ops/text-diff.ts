import { plainText } from '#base/plain.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { codingOf, decoded } from './text.ts'

/** Beyond this nobody reads a diff, and it would take long to make and to send. */
const limits = { compared: 8_000_000, shown: 100_000 }

/** What differs, nothing where nothing does; undefined where lines cannot show it, or it is too much. */
export function textDiff(from: string, to: string, name: string, other = name): string | undefined {
  if (from === to) return ''
  // A name stands in a line of its own, and may not make another.
  const sides = [
    { name: plainText(name), text: from },
    { name: plainText(other), text: to },
  ] as const
  return unifiedDiff(...sides, limits) || undefined
}

export async function textOf(bytes: Buffer): Promise<string | undefined> {
  const coding = await codingOf(bytes)
  return coding && decoded(bytes, coding)
}
