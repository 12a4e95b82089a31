import { constructFromEvents, YAMLException } from 'js-yaml'
import * as z from 'zod'
import { isProjectName } from '../rules.ts'
import { applySplices, emitPair } from './emit.ts'
import { lineEnd, lineStart, indexNodes, trimmedEnd } from './nodes.ts'
import type { Nodes } from './nodes.ts'
import { toLineColumn } from './read.ts'
import type { Problem } from './read.ts'

const guidance = z.looseObject({
  inherit: z.array(z.string()).optional(),
  project: z
    .array(
      z.looseObject({
        name: z.string(),
        source: z.enum(['repo', 'data']).default('repo'),
        path: z.string(),
        mode: z.enum(['replace', 'append']).default('replace'),
      }),
    )
    .optional(),
})

const project = z.looseObject({
  repo: z.string().nullish(),
  description: z.string().nullish(),
  guidance: guidance.nullish(),
  /** The agent that registered the project; absent for a person. */
  registered_by: z.string().nullish(),
})
export type RegisteredProject = z.infer<typeof project>

const registry = z.looseObject({
  projects: z.record(z.string(), project.nullable()).nullish(),
  vault_path: z.string().nullish(),
})

export type Registry = {
  readonly projects: Readonly<Record<string, RegisteredProject>>
  readonly vaultPath: string | undefined
  /** Problems of skipped projects, whose names are not valid folder names. */
  readonly problems: ReadonlyMap<string, Problem>
}

/** Parses the project registry, `config.yaml` of the data root (W1). */
export function readRegistry(
  text: string,
): { ok: true; registry: Registry } | { ok: false; problems: readonly Problem[] } {
  try {
    const nodes = indexNodes(text)
    const value = constructFromEvents(nodes.events, { source: text, maxAliases: 100 })[0] ?? {}
    const parsed = registry.safeParse(value)
    if (!parsed.success)
      return {
        ok: false,
        problems: parsed.error.issues.map(({ path, message }) => ({
          line: 1,
          column: 1,
          message: `${path.join('.')}: ${message}`,
        })),
      }
    const { projects, vault_path: vaultPath } = parsed.data
    const named = Object.entries(projects ?? {})
    const known = named
      .filter(([name]) => isProjectName(name))
      .map(([name, one]) => [name, one ?? {}] as const)
    const faults = named
      .filter(([name]) => !isProjectName(name))
      .map(([name]) => [name, toNameProblem(text, nodes, name)] as const)
    return {
      ok: true,
      registry: {
        projects: Object.fromEntries(known),
        vaultPath: vaultPath ?? undefined,
        problems: new Map(faults),
      },
    }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const place = toLineColumn(text, error.mark?.position ?? 0)
    return { ok: false, problems: [{ ...place, message: error.reason }] }
  }
}

function toNameProblem(text: string, nodes: Nodes, name: string): Problem {
  const at = findProjects(nodes).projects.find(({ key }) => key === name)?.keyStart ?? 0
  const shown = JSON.stringify(name.slice(0, 100))
  return { ...toLineColumn(text, at), message: `Invalid project name: ${shown}.` }
}

/** Finds the key `projects`, the key after it, and the projects. */
function findProjects(nodes: Nodes) {
  const pairsOf = (node: number) => (nodes.isMap(node) ? nodes.pairs(node) : undefined) ?? []
  const top = pairsOf(nodes.root)
  const at = top.findIndex(({ key }) => key === 'projects')
  const pair = top[at]
  return { pair, after: pair && top[at + 1], projects: pair ? pairsOf(pair.value) : [] }
}

/** Adds or replaces the entry of a project; other lines stay. */
export function addProject(text: string, name: string, entry: RegisteredProject): string {
  const without = removeProject(text, name)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const nodes = indexNodes(without)
  const { pair, after, projects } = findProjects(nodes)
  const block = (indent: number) => ' '.repeat(indent) + `${emitPair(name, entry, indent, eol)}`
  if (!pair) {
    const isOpen = without !== '' && !without.endsWith('\n')
    return `${without}${isOpen ? eol : ''}projects:${eol}${block(2)}`
  }
  const colon = without.indexOf(':', pair.keyEnd) + 1
  const bound = after ? lineStart(without, after.keyStart) : without.length
  if (projects.length === 0) {
    // `projects:` or `projects: {}`: the value is empty.
    const end = lineEnd(without, colon)
    return applySplices(without, [{ from: colon, to: end, text: `${eol}${block(2)}` }])
  }
  const [first] = projects
  const indent = first ? first.keyStart - lineStart(without, first.keyStart) : 2
  const end = trimmedEnd(without, lineEnd(without, nodes.lastEnd(pair.value) - 1), bound, 0)
  const isOpen = !without.slice(0, end).endsWith('\n')
  return applySplices(without, [{ from: end, to: end, text: (isOpen ? eol : '') + block(indent) }])
}

export function removeProject(text: string, name: string): string {
  const nodes = indexNodes(text)
  const { pair, after, projects } = findProjects(nodes)
  const which = projects.findIndex(({ key }) => key === name)
  const found = projects[which]
  if (!pair || !found) return text
  const next = projects[which + 1] ?? after
  const bound = next ? lineStart(text, next.keyStart) : text.length
  const start = lineStart(text, found.keyStart)
  const last = Math.max(nodes.lastEnd(found.value), found.keyEnd)
  const indent = found.keyStart - start
  const end = trimmedEnd(text, Math.min(lineEnd(text, last - 1), bound), bound, indent)
  const isOnly = projects.length === 1
  const colon = text.indexOf(':', pair.keyEnd) + 1
  return applySplices(text, [
    ...(isOnly ? [{ from: colon, to: colon, text: ' {}' }] : []),
    { from: start, to: end, text: '' },
  ])
}
