import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Writes a new file, part by part so that others have their turn; on disk when it resolves. Gives its hash. */
export async function putFile(path: string, parts: Iterable<string>): Promise<string> {
  const digest = createHash('sha256')
  await using file = await open(path, 'wx', 0o644)
  for (const part of parts) {
    const bytes = Buffer.from(part)
    digest.update(bytes)
    await file.appendFile(bytes)
  }
  await file.sync()
  return digest.digest('hex')
}

const scratch = Buffer.allocUnsafe(256 * 1024)

/** Without holding a long file in memory, and so the collector up. In one go: nobody is to write meanwhile. */
export function hashOfFile(file: number): string {
  const digest = createHash('sha256')
  for (let position = 0; ;) {
    const length = readSync(file, scratch, { position })
    if (length === 0) return digest.digest('hex')
    digest.update(scratch.subarray(0, length))
    position += length
  }
}
