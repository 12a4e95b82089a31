// Controls, format and bidi characters, unassigned and private ones, odd spaces and fillers (A13). The
// console has the same rule in `web/src/shared/sanitize.ts`, where each one becomes a mark of its own.
const unseen =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** Joiner and selector that hold an emoji together are part of a picture, not of a trick. */
const inEmoji =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(?:\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const pieces = new RegExp(`${inEmoji.source}|(?<unseen>${unseen.source})`, 'gu')
const words: Record<string, string> = { '\n': '↵', '\t': '⇥' }
/** What a cut can leave of a character or an emoji. */
const torn = /(?:[\ud800-\udbff]|\u200d|\ufe0f)+$/

/** Most texts, and it is found out fast. */
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * Text of agents for places that show nothing but text: one line in which nothing can reorder, hide or
 * imitate, of at most so many characters (A13).
 */
export function sanitizeText(text: string, most = Infinity): string {
  if (text.length <= most && isPlain(text)) return text
  // Nothing gets shorter by being shown, so what lies beyond the limit need not be looked at.
  const shown = text.slice(0, most + 1).replaceAll(pieces, (found, ...rest) => {
    const { unseen: hidden } = rest.at(-1) as { unseen?: string }
    return hidden === undefined ? found : (words[hidden] ?? codeOf(hidden))
  })
  return shown.length <= most ? shown : `${shown.slice(0, most - 1).replace(torn, '')}…`
}

/** JSON that parses to the same and in which nothing can reorder, hide or imitate either (PV8). */
export function toSafeJson(value: unknown): string | undefined {
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined || isPlain(json)) return json
  return json.replaceAll(pieces, (found, ...rest) => {
    const { unseen: hidden } = rest.at(-1) as { unseen?: string }
    return hidden === undefined ? found : escapeOf(hidden)
  })
}

const escapeOf = (char: string) =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

const codeOf = (char: string) =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
