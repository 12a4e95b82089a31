/** A run of visible text, or of one repeated character that is invisible or misleading. */
export type TextRun = { readonly text: string; readonly hidden?: string }

// Control, format, bidi, unassigned and private characters, unusual spaces and fillers (A13).
const unseen =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** Joiners and variation selectors inside an emoji sequence are harmless. */
const inEmoji =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const pieces = new RegExp(`${inEmoji.source}|\\r\\n|(?<unseen>${unseen.source})\\k<unseen>*`, 'gu')

const shown: Record<string, string> = { '\n': '↵', '\t': '⇥' }
/** Spaces that ordinary text uses visibly. */
const spaces = new Set(['\u00a0', '\u202f', '\u3000'])

/** Limits the DOM elements that a text full of hidden characters can create. */
const mostMarks = 1000

type How = {
  /** Keeps line breaks and tabs. */
  readonly lines?: boolean
  /** Keeps unusual spaces, for text that is not part of a decision. */
  readonly spaces?: boolean
  /** Replaces hidden characters beyond this number with U+FFFD. */
  readonly marks?: number
}

/** Splits untrusted text so that no character can reorder, hide or imitate (A13). */
export function splitHiddenCharacters(text: string, how: How = {}): TextRun[] {
  const runs: TextRun[] = []
  let marksLeft = how.marks ?? mostMarks
  let seen = ''
  const flush = () => {
    if (seen !== '') runs.push({ text: seen })
    seen = ''
  }
  const mark = (char: string, count: number) => {
    if (marksLeft-- <= 0) {
      seen += '\ufffd'
      return
    }
    flush()
    const name = shown[char] ?? codeOf(char)
    runs.push({ text: count === 1 ? name : `${name} ×${count}`, hidden: codeOf(char) })
  }
  let from = 0
  for (const match of text.matchAll(pieces)) {
    const [found] = match
    seen += text.slice(from, match.index)
    from = match.index + found.length
    const char = match.groups?.['unseen']
    if (char !== undefined) {
      if (isKept(char, how)) seen += found
      else mark(char, found.length / char.length)
    } else if (found === '\r\n' && !how.lines) {
      mark('\r', 1)
      mark('\n', 1)
    } else seen += found
  }
  seen += text.slice(from)
  flush()
  return runs
}

const isKept = (char: string, how: How) =>
  (how.lines === true && (char === '\n' || char === '\t')) ||
  (how.spaces === true && spaces.has(char))

/** Returns the text with hidden characters spelled out, for titles and tooltips. */
export const sanitizeText = (text: string): string =>
  splitHiddenCharacters(text)
    .map((run) => run.text)
    .join('')

/** Lists the hidden characters of an input, which shows its text unchanged. */
export function describeHidden(text: string): string | undefined {
  const found = new Set(
    splitHiddenCharacters(text, { lines: true, marks: Infinity }).flatMap(
      ({ hidden }) => hidden ?? [],
    ),
  )
  return found.size > 0 ? `Contains hidden characters: ${[...found].join(', ')}.` : undefined
}

const codeOf = (char: string) =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
