/** A stretch of text: as it is, or one character that would not be seen or would deceive. */
export type Run = { readonly text: string; readonly hidden?: string }

// Controls, format and bidi characters, unassigned and private ones, odd spaces and fillers (A13).
const unseen =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]/u
/** Joiner and selector that hold an emoji together are part of a picture, not of a trick. */
const inEmoji =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])(\ufe0f|\u200d(?=\p{Extended_Pictographic}))/u

const pieces = new RegExp(`${inEmoji.source}|(?<unseen>${unseen.source})`, 'gu')

const shown: Record<string, string> = { '\n': '↵', '\t': '⇥' }

/**
 * Text of agents as plain text: nothing in it can reorder, hide or imitate. With `lines`, line breaks
 * and tabs stay what they are.
 */
export function plainRuns(text: string, { lines = false } = {}): Run[] {
  const runs: Run[] = []
  let from = 0
  for (const match of text.matchAll(pieces)) {
    const found = match.groups?.['unseen']
    if (found === undefined || (lines && (found === '\n' || found === '\t'))) continue
    if (match.index > from) runs.push({ text: text.slice(from, match.index) })
    runs.push({ text: shown[found] ?? codeOf(found), hidden: codeOf(found) })
    from = match.index + found.length
  }
  if (from < text.length) runs.push({ text: text.slice(from) })
  return runs
}

/** The same where there is no room for marks: in titles and tips. */
export const plainString = (text: string): string =>
  plainRuns(text)
    .map((run) => run.text)
    .join('')

/** A field one types in shows text as it is: what hides in it is named beside it. */
export function hiddenNote(text: string): string | undefined {
  const found = new Set(plainRuns(text, { lines: true }).flatMap(({ hidden }) => hidden ?? []))
  return found.size > 0 ? `Holds hidden characters: ${[...found].join(', ')}.` : undefined
}

const codeOf = (char: string) =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
