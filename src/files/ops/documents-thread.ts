/** Takes the text out of one document and ends. In a thread, since what it reads is not to be trusted. */
import { parentPort, workerData } from 'node:worker_threads'

const { bytes, isWord } = workerData as { bytes: Uint8Array; isWord: boolean }

async function textOfWord(): Promise<string> {
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.extractRawText({ buffer: Buffer.from(bytes.buffer) })
  return value
}

async function textOfPdf(): Promise<string> {
  const { extractText, getDocumentProxy } = await import('unpdf')
  const { text } = await extractText(await getDocumentProxy(bytes))
  return text.map((page) => page.trimEnd()).join('\n\n')
}

parentPort?.postMessage(await (isWord ? textOfWord() : textOfPdf()))
