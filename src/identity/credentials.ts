import type { Role } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { toSelection } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import { normalizeAgentId } from './ids.ts'
import type { StoredIdentities } from './store.ts'

type Source = 'config' | 'store' | 'environment'

export type Agent = {
  readonly kind: 'agent'
  readonly id: string
  readonly source: Source
  readonly scopes: readonly string[]
  /** Absent for the default tools (SV18). */
  readonly selection?: ToolSelection
  /** True for a shared key: the name of its caller is a claim, and the key does not turn on authentication (I5, I7). */
  readonly shared?: true
  readonly createdAt?: number
  readonly revokedAt?: number
}
export type Person = { readonly kind: 'human'; readonly id: string; readonly role: Role }

export type Credential = {
  readonly hash: string
  /** The holder, as in `agent:sales` or `person:owner` */
  readonly principal: string
  readonly createdAt?: number
  readonly expiresAt?: number
}

/** All holders and their credentials. Immutable. */
export type CredentialIndex = {
  readonly holders: ReadonlyMap<string, Agent | Person>
  readonly credentials: ReadonlyMap<string, Credential>
  readonly isAuthRequired: boolean
}

export type IdentityConfig = {
  readonly agents: readonly (SelectionFields & {
    readonly id: string
    readonly token?: string | undefined
    readonly token_hash?: string | undefined
    readonly scopes?: readonly string[] | undefined
  })[]
  readonly trust: { readonly default_level: number }
  readonly authority: { readonly default_mode: string }
}

/** Keys from the daemon's environment (I7). Only their digests are kept, in memory. */
export type SharedKeys = {
  readonly worksyncKey?: string | undefined
  readonly coworkToken?: string | undefined
  readonly agentId?: string | undefined
}

/** The credentials that do not change until the next start: config, environment and the owner. */
export type StaticCredentials = {
  readonly configured: readonly Agent[]
  readonly environment: readonly Agent[]
  readonly people: readonly Person[]
  readonly credentials: readonly Credential[]
}

const worksyncId = 'worksync'
/** The person who owns the machine: exists from the first start and always stays owner (I10). */
export const ownerId = 'owner'

export const agentPrincipal = (id: string): string => `agent:${id}`
export const personPrincipal = (id: string): string => `person:${id}`
const getPrincipal = ({ kind, id }: Agent | Person) =>
  kind === 'agent' ? agentPrincipal(id) : personPrincipal(id)

/** Parses the id of a new agent. The name of the shared key is reserved (I7). */
export function parseAgentId(input: string): string {
  const id = parseLiteralId(input, 'id')
  if (id !== worksyncId) return id
  throw new CoworkError(
    'agent_exists',
    `${worksyncId} is reserved for the holder of WORKSYNC_API_KEY.`,
    {
      hint: 'Choose another id.',
    },
  )
}

/** Rejects `*`, which matches any text in a mapping (Y1). */
function parseLiteralId(input: string, from: string): string {
  const id = normalizeAgentId(input, from)
  if (!id.includes('*')) return id
  throw new CoworkError('invalid_agent_id', `Invalid agent id in ${from}: it contains *.`, {
    hint: 'Choose an id without *, which matches any text in mappings.',
  })
}

export function loadStaticCredentials(
  config: IdentityConfig,
  ownerToken: string,
  shared: SharedKeys,
  defaultScopes: readonly string[],
): StaticCredentials {
  const owner: Person = { kind: 'human', id: ownerId, role: 'owner' }
  const configured = config.agents.map((agent): Agent => {
    const scopes = agent.scopes ?? defaultScopes
    const selection = toSelection(agent)
    return {
      kind: 'agent',
      id: parseAgentId(agent.id),
      source: 'config',
      scopes,
      ...(selection && { selection }),
    }
  })
  const duplicate = configured.find(({ id }, at) => configured.findIndex((a) => a.id === id) !== at)
  if (duplicate)
    throw agentConfigError(`duplicate agent id ${duplicate.id}`, 'Rename one of the agents.')

  const credentials = new Map<string, Credential>()
  const addCredential = (holder: Agent | Person, hash: string) => {
    const existing = credentials.get(hash)
    const principal = getPrincipal(holder)
    if (existing && existing.principal !== principal)
      throw agentConfigError(
        `${existing.principal} and ${principal} have the same token`,
        'Create a separate token with `cowork agents token`.',
      )
    credentials.set(hash, { hash, principal })
  }
  addCredential(owner, sha256Hex(ownerToken))
  for (const [at, agent] of configured.entries())
    addCredential(agent, getConfiguredHash(config.agents[at]))

  const environment: Agent[] = []
  if (shared.worksyncKey) {
    const agent: Agent = {
      kind: 'agent',
      id: worksyncId,
      source: 'environment',
      scopes: ['*:work'],
      shared: true,
    }
    addCredential(agent, sha256Hex(shared.worksyncKey))
    environment.push(agent)
  }
  if (shared.coworkToken) {
    const hash = sha256Hex(shared.coworkToken)
    const id = shared.agentId ? parseLiteralId(shared.agentId, 'AGENT_ID') : 'main'
    const agent: Agent = { kind: 'agent', id, source: 'environment', scopes: defaultScopes }
    // The token of a configured agent does not create a second agent.
    const own = configured.some((one) => credentials.get(hash)?.principal === getPrincipal(one))
    if (!own) {
      addCredential(agent, hash)
      environment.push(agent)
    }
  }
  return { configured, environment, people: [owner], credentials: [...credentials.values()] }
}

/** `token_hash` wins over `token` (I4). */
function getConfiguredHash(agent: IdentityConfig['agents'][number] | undefined): string {
  const { id, token, token_hash: hash } = agent ?? {}
  if (hash !== undefined) {
    if (/^[0-9a-f]{64}$/i.test(hash)) return hash.toLowerCase()
    throw agentConfigError(
      `the token_hash of agent ${id} is not a SHA-256 in hex`,
      'Run `cowork agents token` to create a token and its hash.',
    )
  }
  if (token) return sha256Hex(token)
  throw agentConfigError(
    `agent ${id} has neither token_hash nor token`,
    'Run `cowork agents token` and copy the hash to cowork.yaml.',
  )
}

const agentConfigError = (what: string, hint: string) =>
  new CoworkError('config_invalid', `Invalid agents in cowork.yaml: ${what}.`, { hint })

/**
 * Builds the index. Config takes precedence over the store, the store over the environment: cowork.yaml rules an agent that
 * was moved there, and a revoked token stays revoked even if COWORK_TOKEN contains it.
 */
export function buildCredentialIndex(
  staticCredentials: StaticCredentials,
  stored: StoredIdentities,
  defaultScopes: readonly string[],
): CredentialIndex {
  const { configured, environment, people } = staticCredentials
  const configuredIds = new Set(configured.map(({ id }) => id))
  const own = stored.agents.filter(({ id }) => !configuredIds.has(id))
  const storedAgents = own.map((agent): Agent => ({
    kind: 'agent',
    source: 'store',
    ...agent,
    scopes: agent.scopes ?? defaultScopes,
  }))
  const storedIds = new Set(storedAgents.map(({ id }) => id))
  const storedCredentials = stored.credentials
    .filter(({ agent }) => storedIds.has(agent))
    .map(({ agent, ...credential }) => ({ ...credential, principal: agentPrincipal(agent) }))

  const agents = [...environment, ...storedAgents, ...configured]
  const holders = [...agents, ...people]
  const credentials = [...staticCredentials.credentials, ...storedCredentials]
  return {
    holders: new Map(holders.map((holder) => [getPrincipal(holder), holder])),
    credentials: new Map(credentials.map((credential) => [credential.hash, credential])),
    // Revoked agents count: revoking the last agent must not turn off authentication.
    isAuthRequired: agents.some(({ shared }) => !shared),
  }
}

export const listAgents = (known: CredentialIndex): Agent[] =>
  [...known.holders.values()].filter((holder) => holder.kind === 'agent')

export const listActiveCredentials = (
  known: CredentialIndex,
  agent: Agent,
  now: number,
): Credential[] =>
  isActive(agent)
    ? [...known.credentials.values()].filter(
        ({ principal, expiresAt }) =>
          principal === getPrincipal(agent) && (expiresAt === undefined || expiresAt > now),
      )
    : []

export const isActive = (agent: Agent): boolean => agent.revokedAt === undefined
