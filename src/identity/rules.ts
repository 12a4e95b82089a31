import type { Caller } from '#base/caller.ts'
import type { Client } from '#base/entry.ts'
import { secretsEqual, sha256Hex } from '#base/hash.ts'
import { listAgents, isActive, agentPrincipal } from './credentials.ts'
import type { Agent, Credential, IdentityConfig, CredentialIndex } from './credentials.ts'
import { normalizeAgentId, isReserved, assertNotReserved } from './ids.ts'

/** What a door saw. The door reads headers and arguments; what they mean is decided here (I1). */
export type PresentedCredentials = {
  readonly door: 'mcp' | 'api'
  readonly address: string
  readonly bearer?: string
  readonly agentToken?: string
  /** The `agent_id` or `agent` argument */
  readonly agentId?: string
  /** AGENT_ID of the bridge or the daemon */
  readonly fallbackId?: string
  /** Where the door has sessions of its own: a connection on stdio, Mcp-Session-Id on legacy HTTP. */
  readonly session?: string
  readonly label?: string
  readonly client?: Client
}

export type AuthenticatedCaller = {
  readonly caller: Omit<Caller, 'session'>
  readonly principal: string
  /** What a session belongs to where the door has none (I12). */
  readonly sessionKey: string
  /** The session that the credential itself is (I6). */
  readonly session?: string
}

export type AuthError = {
  readonly fault:
    | 'no_token'
    | 'wrong_token'
    | 'ended_token'
    | 'two_tokens'
    | 'other_agent'
    | 'person_on_mcp'
  readonly message: string
  readonly hint: string
  readonly claimed?: string
  /** Whose patience a wrong guess costs besides the address's. */
  readonly principal?: string
}

export const socketAddress = 'socket'

/** Hashing is linear, and an argument may hold megabytes: no token is this long. */
const maxTokenLength = 4096

/** Who presents this, or why nobody may come in with it (I2, I3, I5, I7, A3). */
export function authenticate(
  known: CredentialIndex,
  credentials: PresentedCredentials,
  now: number,
): AuthenticatedCaller | AuthError {
  const claimed = credentials.agentId ? normalizeAgentId(credentials.agentId) : undefined
  let credential: Credential | undefined
  for (const token of [credentials.bearer, credentials.agentToken]) {
    if (!token) continue
    const match = findCredential(known, token)
    // With authentication off no agent_token is needed, but the samples of the COWORK protocol pass one.
    if (!match && !known.isAuthRequired && token !== credentials.bearer) continue
    if (!match) return wrongTokenError(known, claimed)
    if (hasEnded(known, match, now)) return endedTokenError(known, match)
    if (credential && credential.principal !== match.principal) return conflictingTokensError
    credential ??= match
  }
  if (credential) return toAuthenticatedCaller(known, credential, credentials, claimed)
  if (credentials.door === 'api') return noPersonTokenError
  if (known.isAuthRequired) return noTokenError(claimed)
  return authenticateUnverified(credentials, claimed)
}

function toAuthenticatedCaller(
  known: CredentialIndex,
  { hash, principal }: Credential,
  { door, address, client }: PresentedCredentials,
  claimed: string | undefined,
): AuthenticatedCaller | AuthError {
  const holder = known.holders.get(principal)
  if (!holder) return wrongTokenError(known, claimed)
  const sessionKey = `token:${hash}`
  const base = { id: holder.id, verified: true, ...(client && { client }) }
  if (holder.kind === 'human') {
    if (door === 'mcp') return personTokenOnMcpError(holder.id)
    return {
      principal,
      sessionKey,
      caller: {
        ...base,
        kind: 'human',
        scopes: ['*'],
        role: holder.role,
        // The command line alone comes over the daemon's own socket.
        channel: address === socketAddress ? 'cli' : 'api',
      },
    }
  }
  if (claimed !== undefined && !holder.shared && claimed !== holder.id)
    return otherAgentError(holder, claimed)
  const claim = holder.shared && claimed !== undefined ? { claim: claimed } : {}
  return { principal, sessionKey, caller: { ...base, ...toAgentCaller(holder), ...claim } }
}

type AgentCaller = Omit<Caller, 'session' | 'client'>

const toAgentCaller = ({ id, scopes, selection, createdAt }: Agent): AgentCaller => ({
  kind: 'agent',
  id,
  verified: true,
  scopes,
  ...(selection && { selection }),
  ...(createdAt !== undefined && { since: createdAt }),
})

const createUnverifiedCaller = (id: string): AgentCaller => ({
  kind: 'agent',
  id,
  verified: false,
  scopes: ['*'],
})

/** The agent of this id as it may call now, without a token: for calls of its own that a person approved (A15). */
export function findAgentCaller(known: CredentialIndex, id: string): AgentCaller | undefined {
  const holder = known.holders.get(agentPrincipal(id))
  if (holder?.kind === 'agent') return isActive(holder) ? toAgentCaller(holder) : undefined
  return known.isAuthRequired ? undefined : createUnverifiedCaller(id)
}

const anonymous = 'anonymous'

function authenticateUnverified(
  { fallbackId, client }: PresentedCredentials,
  claimed: string | undefined,
): AuthenticatedCaller {
  const chosen = claimed ?? (fallbackId ? normalizeAgentId(fallbackId, 'AGENT_ID') : undefined)
  if (chosen !== undefined && chosen !== anonymous) assertNotReserved(chosen)
  const id = chosen ?? getClientId(client)
  return {
    principal: 'open',
    sessionKey: `open:${id}`,
    caller: { ...createUnverifiedCaller(id), ...(client && { client }) },
  }
}

/** People do not choose what their client is called, so a reserved name is not refused. */
function getClientId(client: Client | undefined): string {
  const name = client?.name ? normalizeAgentId(client.name, 'the name of the client') : anonymous
  return isReserved(name) ? anonymous : name
}

/** Found by digest, then compared in constant time (I4). */
function findCredential(known: CredentialIndex, token: string): Credential | undefined {
  if (token.length > maxTokenLength) return undefined
  const hash = sha256Hex(token)
  const credential = known.credentials.get(hash)
  return credential && secretsEqual(credential.hash, hash) ? credential : undefined
}

function hasEnded(
  known: CredentialIndex,
  { principal, expiresAt }: Credential,
  now: number,
): boolean {
  return (expiresAt !== undefined && expiresAt <= now) || isRevoked(known, principal)
}

function isRevoked(known: CredentialIndex, principal: string): boolean {
  const holder = known.holders.get(principal)
  return holder?.kind === 'agent' && !isActive(holder)
}

const tokenHint =
  'give it to the client as COWORK_TOKEN, as a Bearer header or as the agent_token argument'

const noTokenError = (claimed: string | undefined): AuthError => ({
  fault: 'no_token',
  message: 'cowork is in closed mode and this request came without a token.',
  hint: `A person makes one with \`cowork agents add <id>\`; ${tokenHint}.`,
  ...(claimed !== undefined && { claimed }),
})

const noPersonTokenError: AuthError = {
  fault: 'no_token',
  message: 'This address needs a token and the request came without one.',
  hint: 'Send it as a Bearer header; the cowork command line does so by itself.',
}

const wrongTokenError = (known: CredentialIndex, claimed: string | undefined): AuthError => ({
  fault: 'wrong_token',
  message: 'The token is not one that cowork knows.',
  hint: known.isAuthRequired
    ? `A person makes one with \`cowork agents add <id>\` or \`cowork agents rotate <id>\`; ${tokenHint}.`
    : 'cowork is in open mode: leave the token out, or a person makes one with `cowork agents add <id>`.',
  ...(claimed !== undefined && { claimed, principal: agentPrincipal(claimed) }),
})

const endedTokenError = (known: CredentialIndex, { principal }: Credential): AuthError => ({
  fault: 'ended_token',
  message: 'The token has been rotated or revoked.',
  hint: isRevoked(known, principal)
    ? `A person brings the agent back with \`cowork agents add <id>\`, which makes a token; ${tokenHint}.`
    : `Use the newer one, or a person makes one with \`cowork agents rotate <id>\`; ${tokenHint}.`,
  claimed: principal.slice(principal.indexOf(':') + 1),
  principal,
})

export const conflictingTokensError: AuthError = {
  fault: 'two_tokens',
  message: 'The Bearer header and the agent_token argument belong to different holders.',
  hint: 'Send one of them: the token of the agent that calls.',
}

const otherAgentError = (holder: Agent, claimed: string): AuthError => ({
  fault: 'other_agent',
  message: `The token belongs to ${holder.id}, but the call says it comes from ${claimed}.`,
  hint: `Leave agent_id and agent out, or call with the token of ${claimed}.`,
  claimed,
})

export const personTokenOnMcpError = (id: string): AuthError => ({
  fault: 'person_on_mcp',
  message: "A person's token was used on MCP, where every caller is an agent.",
  hint: `A person makes an agent's token with \`cowork agents add <id>\`; ${tokenHint}.`,
  claimed: id,
})

export function formatAuthBanner(known: CredentialIndex, config: IdentityConfig): string {
  const agents = listAgents(known).filter((agent) => isActive(agent) && !agent.shared)
  return known.isAuthRequired
    ? `Auth: closed mode (${agents.length} agents)`
    : `Auth: open mode (demo) | Mode: ${config.authority.default_mode} | Trust default: ${config.trust.default_level}`
}
