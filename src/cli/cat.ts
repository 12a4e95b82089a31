import type { FileReadResult } from '#files/wire.ts'
import { localCommand } from './command.ts'
import { usage } from './exit.ts'
import { where, words } from './file-words.ts'
import { positive, text } from './option-kinds.ts'
import type { Values } from './option-kinds.ts'
import { plain, plainLines } from './plain.ts'

const range = {
  head: positive('--head <count>', 'the first lines'),
  tail: positive('--tail <count>', 'the last lines'),
  lines: text('--lines <from-to>', 'these lines, such as 10-20'),
}

/** The daemon gives no more than a file may have here. */
const all = 2 ** 40

/** What is in a file. On a terminal nothing in it can move the cursor; into a pipe it goes as it is. */
export const catCommand = localCommand({
  usage: 'cat <path>',
  summary: 'its text',
  options: range,
  help: where,
  words,
  async act({ client, out, args: [path], options }) {
    const asked = { path, ...rangeOf(options), max_bytes: all }
    const read = await client.call('read_file', asked)
    for (const warning of read.warnings ?? []) out.note(plain(warning))
    out.content(read, contentFor(read, process.stdout.isTTY))
    if ((read.next_byte ?? read.next_line) !== undefined)
      out.note('There is more: --lines and --tail show other parts.')
  },
})

function contentFor({ content, encoding, mime, path }: FileReadResult, isTerminal: boolean) {
  const isBytes = encoding === 'base64'
  if (!isTerminal) return isBytes ? Buffer.from(content, 'base64') : content
  if (isBytes)
    throw usage(
      `${plain(path)} is no text but ${plain(mime)}.`,
      'Write it to a file with `> name`.',
    )
  return `${plainLines(content.replace(/\r?\n$/, '')).join('\n')}\n`
}

function rangeOf({ head, tail, lines }: Values<typeof range>) {
  if ([head, tail, lines].filter((one) => one !== undefined).length > 1)
    throw usage('--head, --tail and --lines say different things.', 'Use one of them.')
  if (lines === undefined) return { head, tail }
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(lines) ?? []
  if (from === undefined || Number(to) < Number(from))
    throw usage(`--lines cannot be ${JSON.stringify(lines)}.`, 'Write it as 10-20.')
  return { line_from: Number(from), line_to: Number(to) }
}
