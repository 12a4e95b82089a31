// Control, format, bidi, unassigned and private-use characters, unusual spaces and fillers (A13). The console has the
// same rule in `web/src/shared/sanitize.ts`, which replaces each character by a visible mark.
const invisible =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** A joiner or variation selector inside of an emoji is harmless. */
const emojiJoiner =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(?:\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const tokens = new RegExp(`${emojiJoiner.source}|(?<invisible>${invisible.source})`, 'gu')
const symbols: Record<string, string> = { '\n': '↵', '\t': '⇥' }
/** The part of a character or an emoji that truncation can leave at the end. */
const incompleteEnd = /(?:[\ud800-\udbff]|\u200d|\ufe0f)+$/

/** A fast check that applies to most texts. */
const isPrintableAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * Makes a text of an agent safe to show: one line of at most `maxChars` characters, without characters that reorder or
 * hide text (A13).
 */
export function sanitizeText(text: string, maxChars = Infinity): string {
  if (text.length <= maxChars && isPrintableAscii(text)) return text
  // A replacement is never shorter than its character, so the text beyond the limit does not matter.
  const shown = text.slice(0, maxChars + 1).replaceAll(tokens, (match, ...rest) => {
    const { invisible: char } = rest.at(-1) as { invisible?: string }
    return char === undefined ? match : (symbols[char] ?? formatCodePoint(char))
  })
  return shown.length <= maxChars
    ? shown
    : `${shown.slice(0, maxChars - 1).replace(incompleteEnd, '')}…`
}

/** Formats JSON that parses to the same value, with characters that reorder or hide text escaped (PV8). */
export function toSafeJson(value: unknown): string | undefined {
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined || isPrintableAscii(json)) return json
  return json.replaceAll(tokens, (match, ...rest) => {
    const { invisible: char } = rest.at(-1) as { invisible?: string }
    return char === undefined ? match : escapeChar(char)
  })
}

const escapeChar = (char: string) =>
  Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')

const formatCodePoint = (char: string) =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
