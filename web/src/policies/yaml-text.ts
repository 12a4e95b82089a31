import { LineCounter, parseDocument } from 'yaml'

type Position = { readonly line: number; readonly column: number }
export type TextIssue = Position & { readonly message: string }

/** A parsed text: its syntax errors, and the position of each path. */
export type YamlText = {
  readonly problems: readonly TextIssue[]
  readonly findPosition: (path: string) => Position
}

const start: Position = { line: 1, column: 1 }

/** Parses the text while typing; the daemon validates it more strictly. */
export function parseYamlText(text: string): YamlText {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const toPosition = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return line === 0 ? start : { line, column: col }
  }
  return {
    problems: document.errors.map(({ pos, message }) => ({ ...toPosition(pos[0]), message })),
    findPosition(path) {
      // A missing value has the position of its parent.
      for (let steps = parsePath(path); steps.length > 0; steps = steps.slice(0, -1)) {
        const node = document.getIn(steps, true) as { range?: readonly number[] | null } | undefined
        const offset = node?.range?.[0]
        if (offset !== undefined) return toPosition(offset)
      }
      return start
    },
  }
}

/** Splits `policies[0].rules[1].field` into keys and indexes. */
export const parsePath = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, place, key]) =>
    place === undefined ? (key ?? '') : Number(place),
  )

export type PathIssue = { readonly path: string; readonly message: string }

export function locateIssues(text: string, found: readonly PathIssue[]): TextIssue[] {
  const { findPosition } = parseYamlText(text)
  return found
    .map(({ path, message }) => {
      const match = /^line (\d+), column (\d+): (.*)$/s.exec(message)
      return match
        ? { line: Number(match[1]), column: Number(match[2]), message: match[3] ?? '' }
        : { ...findPosition(path), message }
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
}
