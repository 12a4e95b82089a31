import type { CallAttempt, Verdict } from '#base/call-check.ts'
import { mixesScripts, toSkeleton } from '#base/confusables.ts'
import type { Reader } from '#base/db/port.ts'
import type { ErrorCode } from '#base/errors.ts'
import { matchesGlob } from '#base/glob.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { memoize } from '#base/memoize.ts'
import type { Policies } from './rules/policy.ts'
import type { GovernanceStore } from './store.ts'

type Problem = { readonly code: ErrorCode; readonly message: string; readonly hint: string }

type Deps = {
  readonly db: Reader
  readonly store: Pick<GovernanceStore, 'domains' | 'mappings'>
  readonly policies: () => Pick<Policies, 'mappings'>
  readonly guardedToolsets: readonly string[]
  readonly now: () => number
}

export type Services = ReturnType<typeof createDomains>

/** How far the clocks of two daemons may differ. */
const clockSkewMs = 5 * 60_000

/** Refuses a new domain that people would take for one there is: it would escape that one's policy (Y10). */
export function createDomains({ db, store, policies, guardedToolsets, now }: Deps) {
  // A known domain stays known, so that its calls need no query. Agents may invent any number of domains: each is
  // read and spelled out once.
  const known = new Set<string>()
  const byShape = new Map<string, string>()
  let readUntil = 0

  function add(domain: string): void {
    if (known.has(domain)) return
    known.add(domain)
    const shape = shapeOf(domain)
    if (!byShape.has(shape)) byShape.set(shape, domain)
  }
  for (const domain of ['cowork', ...guardedToolsets]) add(domain)

  /** Reads what was added since the last time, also by other daemons. */
  async function refresh(): Promise<void> {
    const at = now()
    for (const domain of await store.domains(db, readUntil - clockSkewMs)) add(domain)
    for (const { domain } of await store.mappings(db)) add(domain)
    readUntil = Math.max(readUntil, at)
  }

  /** Patterns of the active policy; none where that cannot be read, and then every proposal is refused anyway. */
  function patterns(): readonly string[] {
    try {
      return policies().mappings.map(({ domain }) => domain)
    } catch {
      return []
    }
  }

  return {
    /** Why this domain is refused; undefined where it may be used. */
    async problemWith(domain: string): Promise<Problem | undefined> {
      if (known.has(domain)) return undefined
      await refresh()
      const mapped = patterns()
      if (known.has(domain) || mapped.includes(domain)) return undefined
      if (domain.normalize('NFKC') !== domain || mixesScripts(domain)) return odd(domain)
      const shape = shapeOf(domain)
      const isLike = (pattern: string) =>
        matchesGlob(patternShape(pattern), shape) && !matchesGlob(pattern, domain)
      const like = byShape.get(shape) ?? mapped.find(isLike)
      return like === undefined ? undefined : lookAlike(domain, like)
    },
  }
}

/** The domain as people read it: separators at its ends, and several in a row, change nothing. */
const shapeOf = (domain: string): string =>
  toSkeleton(domain)
    .replaceAll(/([\s./:_-])\1+/g, '$1')
    .replaceAll(/^[\s./:_-]+|[\s./:_-]+$/g, '')

const patternShape = memoize(shapeOf)

const namedIn = (input: Readonly<Record<string, unknown>>): string | undefined => {
  const domain = input['domain'] ?? input['filter_domain']
  return typeof domain === 'string' ? domain : undefined
}

export const checkDomain =
  ({ problemWith }: Services) =>
  async ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): Promise<Verdict> => {
    const domain = tool.toolset === 'cowork' ? namedIn(input) : undefined
    const problem = domain === undefined ? undefined : await problemWith(domain)
    return problem ? { mode: 'refuse', ...problem } : { mode: 'act' }
  }

const odd = (domain: string): Problem => ({
  code: 'invalid_domain',
  message: `The domain ${shown(domain)} holds characters that imitate others.`,
  hint: 'Use plain letters of one script, digits, dots and dashes, as in crm.deals.',
})

const lookAlike = (domain: string, like: string): Problem => ({
  code: 'invalid_domain',
  message: `The domain ${shown(domain)} looks like ${shown(like)}.`,
  hint: `Use ${shown(like)}, or a name that people can tell from it.`,
})

/** Letters of other scripts by their numbers, or the two would look the same in the message, too. */
const shown = (domain: string): string =>
  sanitizeText(domain, 200).replaceAll(
    /[^\x20-\x7e]/gu,
    (char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
