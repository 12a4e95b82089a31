export type WorkView = {
  readonly project?: string
  readonly sprint?: string
  /** The story that is open beside it. */
  readonly story?: string
  readonly q?: string
}

const names = ['project', 'sprint', 'story', 'q'] as const

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function parseWorkView(search: Record<string, unknown>): WorkView {
  const given = names.flatMap((name) => {
    const text = search[name]
    return typeof text === 'string' && text.trim() !== '' ? [[name, text.trim().slice(0, 200)]] : []
  })
  return Object.fromEntries(given) as WorkView
}

export function withoutStory(view: WorkView): WorkView {
  const { story: _, ...others } = view
  return others
}
