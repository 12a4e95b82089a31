import { findClosestWord } from '#base/config/suggest.ts'
import type { Tool } from '#base/tool.ts'

/** All tools by name, in stable order. */
export type ToolRegistry = {
  find(name: string): Tool | undefined
  list(): readonly Tool[]
}

export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(sorted.map((tool) => [tool.name, tool]))
  if (byName.size !== sorted.length) {
    const twice = sorted.find((tool, at) => sorted[at + 1]?.name === tool.name)
    throw new Error(`two tools are named ${twice?.name}`)
  }
  return { find: (name) => byName.get(name), list: () => sorted }
}

/** The tool of agents that may have been meant, and how to find another. */
export function unknownToolHint(catalogue: ToolRegistry, name: string): string {
  const names = catalogue.list().flatMap((tool) => (tool.by === 'human' ? [] : [tool.name]))
  const close = findClosestWord(name.slice(0, 128), names)
  const meant = close === undefined ? '' : `Did you mean ${close}? `
  return `${meant}Find tools with cowork_find_tools {"query":"…"}.`
}
