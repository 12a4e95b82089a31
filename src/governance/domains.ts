import type { CallAttempt, Verdict } from '#base/call-check.ts'
import { mixesScripts, toSkeleton } from '#base/confusables.ts'
import type { Reader } from '#base/db/port.ts'
import type { ErrorCode } from '#base/errors.ts'
import { matchesGlob } from '#base/glob.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { memoize } from '#base/memoize.ts'
import type { Policies } from './rules/policy.ts'
import type { GovernanceStore } from './store.ts'

type DomainIssue = { readonly code: ErrorCode; readonly message: string; readonly hint: string }

type Deps = {
  readonly db: Reader
  readonly store: Pick<GovernanceStore, 'domains' | 'mappings'>
  readonly policies: () => Pick<Policies, 'mappings'>
  readonly guardedToolsets: readonly string[]
  readonly now: () => number
}

export type Services = ReturnType<typeof createDomains>

/** Maximum clock difference between two daemons. */
const clockSkewMs = 5 * 60_000

/**
 * Refuses a new domain that people would confuse with an existing one: it would escape the policy of that one (Y10).
 */
export function createDomains({ db, store, policies, guardedToolsets, now }: Deps) {
  // A known domain stays known, so that its calls need no query. Agents may invent any number of domains: each is
  // read and normalized once.
  const known = new Set<string>()
  const byShape = new Map<string, string>()
  let readUntil = 0

  function add(domain: string): void {
    if (known.has(domain)) return
    known.add(domain)
    const shape = toShape(domain)
    if (!byShape.has(shape)) byShape.set(shape, domain)
  }
  for (const domain of ['cowork', ...guardedToolsets]) add(domain)

  /** Reads the domains that were added since the last call, also by other daemons. */
  async function refresh(): Promise<void> {
    const at = now()
    for (const domain of await store.domains(db, readUntil - clockSkewMs)) add(domain)
    for (const { domain } of await store.mappings(db)) add(domain)
    readUntil = Math.max(readUntil, at)
  }

  /** Domain patterns of the active policy; none if it is unreadable: then every proposal is refused anyway. */
  function patterns(): readonly string[] {
    try {
      return policies().mappings.map(({ domain }) => domain)
    } catch {
      return []
    }
  }

  return {
    /** Returns why this domain is refused; undefined for a valid one. */
    async findIssue(domain: string): Promise<DomainIssue | undefined> {
      if (known.has(domain)) return undefined
      await refresh()
      const mapped = patterns()
      if (known.has(domain) || mapped.includes(domain)) return undefined
      if (domain.normalize('NFKC') !== domain || mixesScripts(domain))
        return ambiguousDomain(domain)
      const shape = toShape(domain)
      const isLike = (pattern: string) =>
        matchesGlob(patternShape(pattern), shape) && !matchesGlob(pattern, domain)
      const like = byShape.get(shape) ?? mapped.find(isLike)
      return like === undefined ? undefined : lookAlike(domain, like)
    },
  }
}

/** Normalizes a domain as people read it: leading, trailing and repeated separators do not count. */
const toShape = (domain: string): string =>
  toSkeleton(domain)
    .replaceAll(/([\s./:_-])\1+/g, '$1')
    .replaceAll(/^[\s./:_-]+|[\s./:_-]+$/g, '')

const patternShape = memoize(toShape)

const getDomainArgument = (input: Readonly<Record<string, unknown>>): string | undefined => {
  const domain = input['domain'] ?? input['filter_domain']
  return typeof domain === 'string' ? domain : undefined
}

export const checkDomain =
  ({ findIssue }: Services) =>
  async ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): Promise<Verdict> => {
    const domain = tool.toolset === 'cowork' ? getDomainArgument(input) : undefined
    const problem = domain === undefined ? undefined : await findIssue(domain)
    return problem ? { mode: 'refuse', ...problem } : { mode: 'act' }
  }

const ambiguousDomain = (domain: string): DomainIssue => ({
  code: 'invalid_domain',
  message: `The domain ${showCharacters(domain)} contains characters that imitate others.`,
  hint: 'Use plain letters of one script, digits, dots and dashes, as in crm.deals.',
})

const lookAlike = (domain: string, like: string): DomainIssue => ({
  code: 'invalid_domain',
  message: `The domain ${showCharacters(domain)} looks like ${showCharacters(like)}.`,
  hint: `Use ${showCharacters(like)}, or a clearly different name.`,
})

/** Shows letters of other scripts as code points: otherwise both names would look the same in the message. */
const showCharacters = (domain: string): string =>
  sanitizeText(domain, 200).replaceAll(
    /[^\x20-\x7e]/gu,
    (char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
