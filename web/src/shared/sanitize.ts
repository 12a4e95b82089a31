/** A run of visible text, or of one repeated character that is invisible or misleading. */
export type TextRun = { readonly text: string; readonly hidden?: string }

// Control, format, bidi, unassigned and private characters, unusual spaces and fillers (A13).
const hiddenCharacter =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** Joiners and variation selectors inside an emoji sequence are harmless. */
const inEmoji =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const tokenPattern = new RegExp(
  `${inEmoji.source}|\\r\\n|(?<unseen>${hiddenCharacter.source})\\k<unseen>*`,
  'gu',
)

const symbols: Record<string, string> = { '\n': '↵', '\t': '⇥' }
/** Spaces that ordinary text uses visibly. */
const visibleSpaces = new Set(['\u00a0', '\u202f', '\u3000'])

/** Limits the DOM elements that a text full of hidden characters can create. */
const maxMarks = 1000

type SplitOptions = {
  /** Keeps line breaks and tabs. */
  readonly lines?: boolean
  /** Keeps unusual spaces, for text that is not part of a decision. */
  readonly spaces?: boolean
  /** Replaces hidden characters beyond this number with U+FFFD. */
  readonly marks?: number
}

/** Splits untrusted text so that no character can reorder, hide or imitate (A13). */
export function splitHiddenCharacters(text: string, options: SplitOptions = {}): TextRun[] {
  const runs: TextRun[] = []
  let marksLeft = options.marks ?? maxMarks
  let visible = ''
  const flush = () => {
    if (visible !== '') runs.push({ text: visible })
    visible = ''
  }
  const mark = (char: string, count: number) => {
    if (marksLeft-- <= 0) {
      visible += '\ufffd'
      return
    }
    flush()
    const name = symbols[char] ?? formatCodePoint(char)
    runs.push({ text: count === 1 ? name : `${name} ×${count}`, hidden: formatCodePoint(char) })
  }
  let from = 0
  for (const match of text.matchAll(tokenPattern)) {
    const [token] = match
    visible += text.slice(from, match.index)
    from = match.index + token.length
    const char = match.groups?.['unseen']
    if (char !== undefined) {
      if (isVisible(char, options)) visible += token
      else mark(char, token.length / char.length)
    } else if (token === '\r\n' && !options.lines) {
      mark('\r', 1)
      mark('\n', 1)
    } else visible += token
  }
  visible += text.slice(from)
  flush()
  return runs
}

const isVisible = (char: string, options: SplitOptions) =>
  (options.lines === true && (char === '\n' || char === '\t')) ||
  (options.spaces === true && visibleSpaces.has(char))

/** Returns the text with hidden characters spelled out, for titles and tooltips. */
export const sanitizeText = (text: string): string =>
  splitHiddenCharacters(text)
    .map((run) => run.text)
    .join('')

/** Lists the hidden characters of an input, which shows its text unchanged. */
export function describeHidden(text: string): string | undefined {
  const codes = new Set(
    splitHiddenCharacters(text, { lines: true, marks: Infinity }).flatMap(
      ({ hidden }) => hidden ?? [],
    ),
  )
  return codes.size > 0 ? `Contains hidden characters: ${[...codes].join(', ')}.` : undefined
}

const formatCodePoint = (char: string) =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
