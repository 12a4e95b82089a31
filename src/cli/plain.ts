import { plainText } from '#base/plain.ts'

/** Text of agents on one line of a terminal: nothing in it can move, reorder, hide or imitate (A13). */
export const plain = (text: string): string => plainText(text)

/** The same for text that may have lines of its own. */
export const plainLines = (text: string): string[] =>
  text.split(/\r\n|\n/).map((line) => plain(line.replaceAll('\t', '    ')))

/** JSON to be edited: the same value, with whatever could deceive written as an escape. */
export const plainJson = (value: unknown): string =>
  [...(JSON.stringify(value, null, 2) ?? 'null')]
    .map((char) => (char === '\n' || plain(char) === char ? char : escaped(char)))
    .join('')

const escaped = (char: string) =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
