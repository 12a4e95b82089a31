/** How the lines of a text end. `mixed` ones are left as they are given. */
export type LineEnding = '\n' | '\r\n' | 'mixed'

export function lineEndingOf(text: string): LineEnding | undefined {
  let [windows, all] = [0, 0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    all++
    if (text[at - 1] === '\r') windows++
  }
  if (all === 0) return undefined
  return windows === 0 ? '\n' : windows === all ? '\r\n' : 'mixed'
}

export function withLineEnding(text: string, ending: LineEnding | undefined): string {
  if (ending === undefined || ending === 'mixed') return text
  const plain = text.replaceAll('\r\n', '\n')
  return ending === '\n' ? plain : plain.replaceAll('\n', '\r\n')
}
