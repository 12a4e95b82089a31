import type { Tool } from '#base/tool.ts'

/** All tools by name, in stable order. */
export type Catalogue = {
  find(name: string): Tool | undefined
  list(): readonly Tool[]
}

export function createCatalogue(tools: readonly Tool[]): Catalogue {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(sorted.map((tool) => [tool.name, tool]))
  if (byName.size !== sorted.length) {
    const twice = sorted.find((tool, at) => sorted[at + 1]?.name === tool.name)
    throw new Error(`two tools are named ${twice?.name}`)
  }
  return { find: (name) => byName.get(name), list: () => sorted }
}
