import { findClosestWord } from '#base/config/suggest.ts'
import type { Tool } from '#base/tool.ts'

/** All tools by name, in a stable order. */
export type ToolRegistry = {
  find(name: string): Tool | undefined
  list(): readonly Tool[]
}

/**
 * Joins the tools of cowork with those of upstream servers. `liveTools` returns the same array until its tools change.
 */
export function createToolRegistry(
  tools: readonly Tool[],
  liveTools: () => readonly Tool[] = () => noTools,
): ToolRegistry {
  const sorted = tools.toSorted(byName)
  const builtin = toMap(sorted)
  if (builtin.size !== sorted.length) {
    const duplicate = sorted.find((tool, at) => sorted[at + 1]?.name === tool.name)
    throw new Error(`duplicate tool: ${duplicate?.name}`)
  }
  let live = noTools
  let joined = { list: sorted as readonly Tool[], map: builtin }

  function refresh() {
    const current = liveTools()
    if (current === live) return joined
    live = current
    // A built-in tool wins over an upstream tool of its name.
    const list = [...sorted, ...current.filter(({ name }) => !builtin.has(name))].toSorted(byName)
    joined = { list, map: toMap(list) }
    return joined
  }

  return { find: (name) => refresh().map.get(name), list: () => refresh().list }
}

const noTools: readonly Tool[] = []
const byName = (a: Tool, b: Tool): number => (a.name < b.name ? -1 : 1)
const toMap = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, tool]))

/** Returns a hint with a similar tool of agents and the way to find others. */
export function unknownToolHint(registry: ToolRegistry, name: string): string {
  const names = registry.list().flatMap((tool) => (tool.by === 'human' ? [] : [tool.name]))
  const close = findClosestWord(name.slice(0, 128), names)
  const suggestion = close === undefined ? '' : `Did you mean ${close}? `
  return `${suggestion}Find tools with cowork_find_tools {"query":"…"}.`
}
