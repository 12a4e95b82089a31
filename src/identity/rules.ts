import type { Caller } from '#base/caller.ts'
import type { Client } from '#base/entry.ts'
import { secretsEqual, sha256Hex } from '#base/hash.ts'
import { listAgents, isActive, agentPrincipal } from './credentials.ts'
import type { Agent, Credential, IdentityConfig, CredentialIndex } from './credentials.ts'
import { normalizeAgentId, isReserved, assertNotReserved } from './ids.ts'

/** The credentials of a request. Endpoints read headers and arguments; this module interprets them (I1). */
export type PresentedCredentials = {
  readonly door: 'mcp' | 'api'
  readonly address: string
  readonly bearer?: string
  readonly agentToken?: string
  /** The `agent_id` or `agent` argument */
  readonly agentId?: string
  /** AGENT_ID of the bridge or the daemon */
  readonly fallbackId?: string
  /** The session of the transport: a connection on stdio, Mcp-Session-Id on legacy HTTP. */
  readonly session?: string
  readonly label?: string
  readonly client?: Client
}

export type AuthenticatedCaller = {
  readonly caller: Omit<Caller, 'session'>
  readonly principal: string
  /** The key of the session if the transport has none (I12). */
  readonly sessionKey: string
  /** The session, if the credential is a session token (I6). */
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
  /** The principal whose throttle a wrong guess counts against, in addition to the address. */
  readonly principal?: string
}

export const socketAddress = 'socket'

/** Longer tokens are not hashed: an argument may have megabytes. */
const maxTokenLength = 4096

/** Authenticates the credentials of a request (I2, I3, I5, I7, A3). */
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
        // Only the command line uses the daemon's socket.
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

/** Finds the active agent with this id without a token, to run its approved calls (A15). */
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

/** Derives the id from the client name. People cannot change that name, so a reserved one becomes `anonymous`. */
function getClientId(client: Client | undefined): string {
  const name = client?.name ? normalizeAgentId(client.name, 'the name of the client') : anonymous
  return isReserved(name) ? anonymous : name
}

/** Finds a credential by digest, then compares in constant time (I4). */
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

const tokenHint = 'pass it as COWORK_TOKEN, as a Bearer header or as the agent_token argument'

const noTokenError = (claimed: string | undefined): AuthError => ({
  fault: 'no_token',
  message: 'Token required: authentication is on.',
  hint: `Ask a person to create a token with \`cowork agents add <id>\`; ${tokenHint}.`,
  ...(claimed !== undefined && { claimed }),
})

const noPersonTokenError: AuthError = {
  fault: 'no_token',
  message: 'Token required.',
  hint: 'Send the token as a Bearer header; the cowork command line adds it automatically.',
}

const wrongTokenError = (known: CredentialIndex, claimed: string | undefined): AuthError => ({
  fault: 'wrong_token',
  message: 'Unknown token.',
  hint: known.isAuthRequired
    ? `Ask a person to create a token with \`cowork agents add <id>\` or \`cowork agents rotate <id>\`; ${tokenHint}.`
    : 'Omit the token: authentication is off. Or ask a person to create one with `cowork agents add <id>`.',
  ...(claimed !== undefined && { claimed, principal: agentPrincipal(claimed) }),
})

const endedTokenError = (known: CredentialIndex, { principal }: Credential): AuthError => ({
  fault: 'ended_token',
  message: 'The token was rotated or revoked.',
  hint: isRevoked(known, principal)
    ? `Ask a person to add the agent again with \`cowork agents add <id>\`, which creates a token; ${tokenHint}.`
    : `Use the new token, or ask a person to create one with \`cowork agents rotate <id>\`; ${tokenHint}.`,
  claimed: principal.slice(principal.indexOf(':') + 1),
  principal,
})

export const conflictingTokensError: AuthError = {
  fault: 'two_tokens',
  message: 'The Bearer header and the agent_token argument belong to different holders.',
  hint: 'Send only the token of the calling agent.',
}

const otherAgentError = (holder: Agent, claimed: string): AuthError => ({
  fault: 'other_agent',
  message: `The token belongs to ${holder.id}, but the call names ${claimed}.`,
  hint: `Omit agent_id and agent, or use the token of ${claimed}.`,
  claimed,
})

export const personTokenOnMcpError = (id: string): AuthError => ({
  fault: 'person_on_mcp',
  message: "A person's token is not valid on MCP, where every caller is an agent.",
  hint: `Create an agent token with \`cowork agents add <id>\`; ${tokenHint}.`,
  claimed: id,
})

export function formatAuthBanner(known: CredentialIndex, config: IdentityConfig): string {
  const agents = listAgents(known).filter((agent) => isActive(agent) && !agent.shared)
  return known.isAuthRequired
    ? `Auth: closed mode (${agents.length} agents)`
    : `Auth: open mode (demo) | Mode: ${config.authority.default_mode} | Trust default: ${config.trust.default_level}`
}
