export type WorkView = {
  readonly project?: string
  readonly sprint?: string
  /** The story open in the detail pane. */
  readonly story?: string
  readonly q?: string
}

const names = ['project', 'sprint', 'story', 'q'] as const

/** Parses the URL search; drops invalid values, so that no link causes an error. */
export function parseWorkView(search: Record<string, unknown>): WorkView {
  const valid = names.flatMap((name) => {
    const text = search[name]
    return typeof text === 'string' && text.trim() !== '' ? [[name, text.trim().slice(0, 200)]] : []
  })
  return Object.fromEntries(valid) as WorkView
}

export function withoutStory(view: WorkView): WorkView {
  const { story: _, ...others } = view
  return others
}
