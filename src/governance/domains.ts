import { mixesScripts, toSkeleton } from '#base/confusables.ts'
import type { Reader } from '#base/db/port.ts'
import { globMatches } from '#base/glob.ts'
import { plainText } from '#base/plain.ts'
import type { Attempted, CallVerdict } from './calls.ts'
import type { Policies } from './rules/policy.ts'
import type { GovernanceStore } from './store.ts'

/** Domains of cowork's own tools. */
const ownDomains = ['cowork', 'files', 'jobs', 'work']

type Problem = { readonly code: string; readonly message: string; readonly hint: string }

type Deps = {
  readonly db: Reader
  readonly store: Pick<GovernanceStore, 'domains' | 'mappings'>
  readonly policies: () => Policies
}

export type Domains = ReturnType<typeof createDomains>

/** Refuses a new domain that people would take for one there is: it would escape that one's policy (Y10). */
export function createDomains({ db, store, policies }: Deps) {
  // A domain once seen stays known, so that most calls need no query.
  const known = new Set<string>()

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
      const mapped = patterns()
      const stored = [
        ...ownDomains,
        ...(await store.domains(db)),
        ...(await store.mappings(db)).map((row) => row.domain),
      ]
      for (const one of stored) known.add(one)
      if (known.has(domain) || mapped.includes(domain)) return undefined
      if (domain.normalize('NFKC') !== domain || mixesScripts(domain)) return odd(domain)
      const skeleton = toSkeleton(domain)
      const isLike = (pattern: string) =>
        globMatches(toSkeleton(pattern), skeleton) && !globMatches(pattern, domain)
      const like = stored.find((one) => toSkeleton(one) === skeleton) ?? mapped.find(isLike)
      return like === undefined ? undefined : lookAlike(domain, like)
    },
  }
}

/** A domain that a call of cowork's own tools names, or none. */
const namedIn = (input: Readonly<Record<string, unknown>>): string | undefined => {
  const domain = input['domain'] ?? input['filter_domain']
  return typeof domain === 'string' ? domain : undefined
}

/** The check of every call that names a domain. */
export const checkDomain =
  ({ problemWith }: Domains) =>
  async ({ tool, input }: Pick<Attempted, 'tool' | 'input'>): Promise<CallVerdict> => {
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
  plainText(domain, 200).replaceAll(
    /[^\x20-\x7e]/gu,
    (char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
