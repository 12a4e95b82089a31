import { ApiError } from '../api/client.ts'
import { callFiles } from './call.ts'
import { nextFreeName, joinPath, baseName } from './path.ts'
import type { ReadFile } from './file.ts'
import { saveBlob } from '../shared/save-blob.ts'

const maxAttempts = 50

/** Copies a file into a workspace folder, under the next free name. */
export async function addFile(folder: string, file: File): Promise<string> {
  const content = await toBase64(file)
  for (let attempt = 1; ; attempt++) {
    const path = joinPath(folder, nextFreeName(file.name, attempt))
    try {
      await callFiles('create_file', { path, content, encoding: 'base64' })
      return path
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === 'exists'
      if (!isTaken || attempt >= maxAttempts) throw error
    }
  }
}

/** Uses the encoder of the browser, which needs no intermediate string. */
const toBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      const address = typeof reader.result === 'string' ? reader.result : ''
      resolve(address.slice(address.indexOf(',') + 1))
    })
    reader.addEventListener('error', () =>
      reject(new Error(`Cannot read ${file.name}. Drop files instead of a folder.`)),
    )
    reader.readAsDataURL(file)
  })

/** Downloads a file; reads the full content if the preview is partial. */
export async function saveFile(read: ReadFile): Promise<void> {
  const full =
    read.next_byte === undefined
      ? read
      : await callFiles('read_file', { path: read.path, max_bytes: read.size_bytes })
  const bytes = Uint8Array.from(atob(full.content ?? ''), (letter) => letter.charCodeAt(0))
  saveBlob(new Blob([bytes], { type: 'application/octet-stream' }), baseName(read.path))
}
