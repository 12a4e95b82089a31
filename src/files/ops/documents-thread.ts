/** Takes the text out of one document. In a thread, since what it reads is not to be trusted. */
import { parentPort } from 'node:worker_threads'

export type ExtractedText = { readonly text: string } | { readonly fault: 'locked' | 'damaged' }

type Document = { readonly bytes: Uint8Array<ArrayBuffer>; readonly isWord: boolean }

async function textOfWord(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.extractRawText({ buffer: Buffer.from(bytes.buffer) })
  return value
}

async function textOfPdf(bytes: Uint8Array): Promise<string> {
  const { extractText, getDocumentProxy } = await import('unpdf')
  const { text } = await extractText(await getDocumentProxy(bytes))
  return text.map((page) => page.trimEnd()).join('\n\n')
}

/** A reason that can be told; of any other it is enough that there is no text. */
const isLocked = (error: unknown) => error instanceof Error && error.name === 'PasswordException'

parentPort?.once('message', ({ bytes, isWord }: Document) => {
  const text = isWord ? textOfWord(bytes) : textOfPdf(bytes)
  const answer = text.then(
    (it): ExtractedText => ({ text: it }),
    (error: unknown): ExtractedText => ({ fault: isLocked(error) ? 'locked' : 'damaged' }),
  )
  void answer.then((it) => parentPort?.postMessage(it))
})
