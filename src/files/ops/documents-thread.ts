/** Takes the text out of one document and ends. In a thread, since what it reads is not to be trusted. */
import { parentPort } from 'node:worker_threads'

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

parentPort?.once('message', ({ bytes, isWord }: Document) => {
  const text = isWord ? textOfWord(bytes) : textOfPdf(bytes)
  // A document that cannot be read ends the thread: whoever asked hears that.
  void text.then((it) => parentPort?.postMessage(it))
})
