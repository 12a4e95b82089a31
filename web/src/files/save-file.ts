import { callFiles } from './call.ts'
import type { ReadFile } from './file.ts'
import { nameOf } from './path.ts'

/** Hands the bytes of a file to the browser, as it has them; what was not read for the screen is read now. */
export async function saveFile(read: ReadFile): Promise<void> {
  const whole =
    read.next_byte === undefined
      ? read
      : await callFiles('read_file', { path: read.path, max_bytes: read.size_bytes })
  const bytes = Uint8Array.from(atob(whole.content ?? ''), (letter) => letter.charCodeAt(0))
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = nameOf(read.path)
  link.click()
  URL.revokeObjectURL(address)
}
