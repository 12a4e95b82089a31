import { callFiles } from './call.ts'
import type { ReadFile } from './file.ts'
import { nameOf } from './path.ts'
import { saveBlob } from '../shared/save-blob.ts'

/** Hands the bytes of a file to the browser, as it has them; what was not read for the screen is read now. */
export async function saveFile(read: ReadFile): Promise<void> {
  const whole =
    read.next_byte === undefined
      ? read
      : await callFiles('read_file', { path: read.path, max_bytes: read.size_bytes })
  const bytes = Uint8Array.from(atob(whole.content ?? ''), (letter) => letter.charCodeAt(0))
  saveBlob(new Blob([bytes], { type: 'application/octet-stream' }), nameOf(read.path))
}
