/** A stretch of text: as it is, or one character, once or in a row, that would not be seen or would deceive. */
export type TextRun = { readonly text: string; readonly hidden?: string }

// Controls, format and bidi characters, unassigned and private ones, odd spaces and fillers (A13).
const unseen =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** Joiner and selector that hold an emoji together are part of a picture, not of a trick. */
const inEmoji =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const pieces = new RegExp(`${inEmoji.source}|\\r\\n|(?<unseen>${unseen.source})\\k<unseen>*`, 'gu')

const shown: Record<string, string> = { '\n': '↵', '\t': '⇥' }
/** Spaces of ordinary writing, seen as such. */
const spaces = new Set(['\u00a0', '\u202f', '\u3000'])

/** Each mark is an element of the page: whoever fills a text with hidden characters does not fill the page. */
const mostMarks = 1000

type How = {
  /** Line breaks and tabs stay what they are. */
  readonly lines?: boolean
  /** So do spaces of other widths, where nothing is decided by them. */
  readonly spaces?: boolean
  /** Beyond these the rest of the hidden ones are replaced in the text itself. */
  readonly marks?: number
}

/** Text of agents as plain text: nothing in it can reorder, hide or imitate. */
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

/** The same where there is no room for marks: in titles and tips. */
export const sanitizeText = (text: string): string =>
  splitHiddenCharacters(text)
    .map((run) => run.text)
    .join('')

/** A field one types in shows text as it is: what hides in it is named beside it. */
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
