/** A line of a unified diff. */
export type DiffLine = {
  readonly sign: '+' | '−' | ' ' | '@'
  readonly text: string
}

/** Parses a unified diff without its file headers. */
export function diffLines(diff: string): DiffLine[] {
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  let isInside = false
  return lines.flatMap((line): DiffLine[] => {
    if (line.startsWith('@@')) {
      const isFirst = !isInside
      isInside = true
      return isFirst ? [] : [{ sign: '@', text: '' }]
    }
    if (!isInside || line.startsWith('\\')) return []
    if (line.startsWith('+')) return [{ sign: '+', text: line.slice(1) }]
    return line.startsWith('-')
      ? [{ sign: '−', text: line.slice(1) }]
      : [{ sign: ' ', text: line.slice(1) }]
  })
}

export function countChanges(lines: readonly DiffLine[]): { more: number; less: number } {
  return {
    more: lines.filter(({ sign }) => sign === '+').length,
    less: lines.filter(({ sign }) => sign === '−').length,
  }
}
