import { plainText } from '#base/plain.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { codingOf, decoded } from './text.ts'

/** Beyond this nobody reads a diff, and it would take long to make. */
const mostBytes = 2 * 1024 * 1024

/** What differs between two contents; undefined where one is no text or both are long. */
export async function diffOf(from: Buffer, to: Buffer, name: string): Promise<string | undefined> {
  if (from.length + to.length > mostBytes) return undefined
  const [old, now] = [await textOf(from), await textOf(to)]
  return old === undefined || now === undefined ? undefined : textDiff(old, now, name)
}

export function textDiff(from: string, to: string, name: string, other = name): string {
  // A name stands in a line of its own, and may not make another.
  return unifiedDiff({ name: plainText(name), text: from }, { name: plainText(other), text: to })
}

export async function textOf(bytes: Buffer): Promise<string | undefined> {
  const coding = await codingOf(bytes)
  return coding && decoded(bytes, coding)
}
