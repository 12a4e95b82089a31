import { findClosestWord } from '#base/config/suggest.ts'
import type { Tool } from '#base/tool.ts'

/** All tools by name, in a stable order. */
export type ToolRegistry = {
  find(name: string): Tool | undefined
  list(): readonly Tool[]
}

export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(sorted.map((tool) => [tool.name, tool]))
  if (byName.size !== sorted.length) {
    const duplicate = sorted.find((tool, at) => sorted[at + 1]?.name === tool.name)
    throw new Error(`duplicate tool: ${duplicate?.name}`)
  }
  return { find: (name) => byName.get(name), list: () => sorted }
}

/** Returns a hint with a similar tool of agents and the way to find others. */
export function unknownToolHint(registry: ToolRegistry, name: string): string {
  const names = registry.list().flatMap((tool) => (tool.by === 'human' ? [] : [tool.name]))
  const close = findClosestWord(name.slice(0, 128), names)
  const suggestion = close === undefined ? '' : `Did you mean ${close}? `
  return `${suggestion}Find tools with cowork_find_tools {"query":"…"}.`
}
