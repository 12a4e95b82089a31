/** Extracts the text of one document. Runs in a thread, because the document is untrusted. */
import { parentPort } from 'node:worker_threads'

export type ExtractedText = { readonly text: string } | { readonly error: 'locked' | 'damaged' }

type Document = { readonly bytes: Uint8Array<ArrayBuffer>; readonly isWord: boolean }

async function extractWordText(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.extractRawText({ buffer: Buffer.from(bytes.buffer) })
  return value
}

async function extractPdfText(bytes: Uint8Array): Promise<string> {
  const { extractText, getDocumentProxy } = await import('unpdf')
  const { text } = await extractText(await getDocumentProxy(bytes))
  return text.map((page) => page.trimEnd()).join('\n\n')
}

/** A locked document has its own error; all other failures are reported as damaged. */
const isLocked = (error: unknown) => error instanceof Error && error.name === 'PasswordException'

parentPort?.once('message', ({ bytes, isWord }: Document) => {
  const text = isWord ? extractWordText(bytes) : extractPdfText(bytes)
  const reply = text.then(
    (value): ExtractedText => ({ text: value }),
    (error: unknown): ExtractedText => ({ error: isLocked(error) ? 'locked' : 'damaged' }),
  )
  void reply.then((reply) => parentPort?.postMessage(reply))
})
