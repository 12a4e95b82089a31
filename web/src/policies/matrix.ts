import { matchesGlob, globSpecificity } from '#base/glob.ts'
import type { Mapping } from './policy.ts'

export type Pair = { readonly agent: string; readonly domain: string }

export type Matrix = {
  readonly agents: readonly string[]
  readonly domains: readonly string[]
  /** The mapping that applies; undefined means blocked. */
  readonly at: (agent: string, domain: string) => Mapping | undefined
}

/**
 * Builds the matrix of agents and domains from the mappings, including patterns, and from known pairs. A pair without a
 * mapping is blocked (Y4).
 */
export function buildMatrix(mappings: readonly Mapping[], seen: readonly Pair[]): Matrix {
  const names = (configured: readonly string[], known: readonly string[]) =>
    [...new Set([...configured, ...known])].toSorted(compareNames)
  return {
    agents: names(
      mappings.map(({ agent_id: id }) => id),
      seen.map(({ agent }) => agent),
    ),
    domains: names(
      mappings.map(({ domain }) => domain),
      seen.map(({ domain }) => domain),
    ),
    at: (agent, domain) => findMapping(mappings, agent, domain),
  }
}

/** Returns the most specific mapping; configured mappings precede those approved in the inbox (Y1). */
export function findMapping(
  mappings: readonly Mapping[],
  agent: string,
  domain: string,
): Mapping | undefined {
  const matching = mappings.filter(
    (it) => matchesGlob(it.agent_id, agent) && matchesGlob(it.domain, domain),
  )
  const written = matching.filter(({ source }) => source === 'config')
  return (written.length > 0 ? written : matching).toSorted(compareSpecificity)[0]
}

function compareSpecificity(a: Mapping, b: Mapping): number {
  const [left = [], right = []] = [a, b].map((it) => globSpecificity(it.agent_id, it.domain))
  return left.map((value, at) => (right[at] ?? 0) - value).find((it) => it !== 0) ?? 0
}

export const isPattern = (name: string): boolean => name.includes('*')

/** Sorts exact names before patterns, and broad patterns last. */
const compareNames = (a: string, b: string) =>
  Number(isPattern(a)) - Number(isPattern(b)) ||
  (isPattern(a) ? b.length - a.length : 0) ||
  a.localeCompare(b)
