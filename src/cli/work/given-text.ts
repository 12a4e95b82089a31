import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { CoworkError, messageOf } from '#base/errors.ts'
import { usage } from '../exit.ts'
import { plain } from '../plain.ts'

/** As many as the daemon takes. */
export const mostTextBytes = 256_000

/** The long text of a backlog item, from a file or, with `-`, from stdin (W25). */
export async function givenText(file: string): Promise<string> {
  const name = file === '-' ? 'stdin' : plain(file)
  const whole = await bytesOf(file === '-' ? process.stdin : createReadStream(file), name)
  // A program before the pipe that failed is not to take a text away.
  if (whole.length === 0)
    throw usage(
      `There is nothing in ${name}.`,
      '`cowork work set <id> --clear text` takes a text away.',
    )
  if (!isUtf8(whole)) throw usage(`What is in ${name} is not UTF-8.`, 'Save it as UTF-8.')
  return whole.toString('utf8')
}

async function bytesOf(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of source) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > mostTextBytes) break
    }
  } catch (error) {
    throw usage(`${name} cannot be read: ${messageOf(error)}.`, 'Name a file, or `-` for stdin.')
  }
  if (bytes <= mostTextBytes) return Buffer.concat(chunks)
  throw new CoworkError('too_large', `There are more than ${mostTextBytes} bytes in ${name}.`, {
    hint: 'Leave the rest in a file of the repository, and name it in the text.',
  })
}
