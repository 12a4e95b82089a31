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
  /** The default tools where absent (SV18). */
  readonly selection?: ToolSelection
  /** Many hold this key: what they call themselves is a claim, and it closes no door (I5, I7). */
  readonly shared?: true
  readonly createdAt?: number
  readonly revokedAt?: number
}
export type Person = { readonly kind: 'human'; readonly id: string; readonly role: Role }

export type Credential = {
  readonly hash: string
  /** The key of its holder, as in `agent:sales` or `person:owner` */
  readonly principal: string
  readonly createdAt?: number
  readonly expiresAt?: number
}

/** Everyone who may come in and by what. A value: a change makes a new one. */
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

/** Keys from the daemon's environment (I7): kept as digests in memory, nowhere else. */
export type SharedKeys = {
  readonly worksyncKey?: string | undefined
  readonly coworkToken?: string | undefined
  readonly agentId?: string | undefined
}

/** What stands until the next start: config, environment and the owner. */
export type StaticCredentials = {
  readonly configured: readonly Agent[]
  readonly environment: readonly Agent[]
  readonly people: readonly Person[]
  readonly credentials: readonly Credential[]
}

const worksyncId = 'worksync'
/** The person whose machine it is: there from the first run, and owner as long as it stands (I10). */
export const ownerId = 'owner'

export const agentPrincipal = (id: string): string => `agent:${id}`
export const personPrincipal = (id: string): string => `person:${id}`
const getPrincipal = ({ kind, id }: Agent | Person) =>
  kind === 'agent' ? agentPrincipal(id) : personPrincipal(id)

/** An id an agent may be registered under: the shared key's own name is taken (I7). */
export function parseAgentId(given: string): string {
  const id = parseLiteralId(given, 'id')
  if (id !== worksyncId) return id
  throw new CoworkError(
    'agent_exists',
    `${worksyncId} is the name of the WORKSYNC_API_KEY's holder.`,
    {
      hint: 'Choose another id.',
    },
  )
}

/** In a mapping `*` is any text, so that no name may hold one (Y1). */
function parseLiteralId(given: string, from: string): string {
  const id = normalizeAgentId(given, from)
  if (!id.includes('*')) return id
  throw new CoworkError('invalid_agent_id', `The agent's id, given as ${from}, holds a *.`, {
    hint: 'In mappings * stands for any text: choose an id without it.',
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
    throw agentConfigError(`two agents have the id ${duplicate.id}`, 'Ids are unique; rename one.')

  const credentials = new Map<string, Credential>()
  const addCredential = (holder: Agent | Person, hash: string) => {
    const existing = credentials.get(hash)
    const principal = getPrincipal(holder)
    if (existing && existing.principal !== principal)
      throw agentConfigError(
        `${existing.principal} and ${principal} have the same token`,
        'Each needs its own: mint one with `cowork agents token`.',
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
    // The token of an agent of config makes no second agent: it is that agent's token again.
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
      '`cowork agents token` prints a token and its hash.',
    )
  }
  if (token) return sha256Hex(token)
  throw agentConfigError(
    `agent ${id} has neither token_hash nor token`,
    '`cowork agents token` prints both; put the hash into cowork.yaml.',
  )
}

const agentConfigError = (what: string, hint: string) =>
  new CoworkError('config_invalid', `The agents of cowork.yaml cannot be used: ${what}.`, { hint })

/**
 * Config wins over the store, the store over the environment: an agent moved into cowork.yaml is ruled
 * from there, and a revoked token stays revoked even if COWORK_TOKEN still holds it.
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
    // A revoked agent counts: revoking the last one must not open the door to everyone.
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
