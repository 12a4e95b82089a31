import { ApiError } from '../api/client.ts'
import { callFiles } from './call.ts'
import { nextFreeName, joinPath, baseName } from './path.ts'
import type { ReadFile } from './file.ts'
import { saveBlob } from '../shared/save-blob.ts'

/** As many names as are tried before somebody should choose one. */
const mostAttempts = 50

/** Copies a file into a folder of the workspace, beside whatever has its name already. */
export async function addFile(folder: string, file: File): Promise<string> {
  const content = await base64Of(file)
  for (let attempt = 1; ; attempt++) {
    const path = joinPath(folder, nextFreeName(file.name, attempt))
    try {
      await callFiles('create_file', { path, content, encoding: 'base64' })
      return path
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === 'exists'
      if (!isTaken || attempt >= mostAttempts) throw error
    }
  }
}

/** By the browser's own encoder, which does not need the bytes as a string first. */
const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      const address = typeof reader.result === 'string' ? reader.result : ''
      resolve(address.slice(address.indexOf(',') + 1))
    })
    reader.addEventListener('error', () =>
      reject(
        new Error(`${file.name} could not be read. A folder cannot be dropped; drop its files.`),
      ),
    )
    reader.readAsDataURL(file)
  })

/** Hands the bytes of a file to the browser, as it has them; what was not read for the screen is read now. */
export async function saveFile(read: ReadFile): Promise<void> {
  const whole =
    read.next_byte === undefined
      ? read
      : await callFiles('read_file', { path: read.path, max_bytes: read.size_bytes })
  const bytes = Uint8Array.from(atob(whole.content ?? ''), (letter) => letter.charCodeAt(0))
  saveBlob(new Blob([bytes], { type: 'application/octet-stream' }), baseName(read.path))
}
