import { setTimeout } from 'node:timers/promises'
import { createCachedView } from '#base/cached-view.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { createAgentService } from './agents.ts'
import {
  listAgents,
  loadStaticCredentials,
  buildCredentialIndex,
  listActiveCredentials,
  agentPrincipal,
} from './credentials.ts'
import type {
  Agent,
  Credential,
  IdentityConfig,
  CredentialIndex,
  SharedKeys,
} from './credentials.ts'
import { createFailedAuth } from './failed-auth.ts'
import { createPasskeys } from './passkeys/service.ts'
import { createPasskeyStore } from './passkeys/store.ts'
import { authenticateSession } from './people/rules.ts'
import { createLinkFactory } from './people/links.ts'
import { createPeopleAdmin } from './people/people-admin.ts'
import { createPersonSessions } from './people/sessions.ts'
import { createPeopleStore } from './people/store.ts'
import { formatAuthBanner, findAgentCaller, authenticate } from './rules.ts'
import type { AuthError, PresentedCredentials, AuthenticatedCaller } from './rules.ts'
import { createSessions } from './sessions.ts'
import type { Sleep } from './failed-auth.ts'
import { createIdentityStore } from './store.ts'
import { isWellFormedToken, isSessionToken } from './token.ts'

export type AgentWithCredentials = Agent & {
  readonly lastSeenAt?: number
  readonly credentials: readonly Credential[]
}

export type Identity = Awaited<ReturnType<typeof createIdentity>>

export type IdentityDeps = {
  readonly db: Db
  readonly config: IdentityConfig
  readonly ownerToken: string
  /** Returns the URL of the console. A function, because the port may be known only after listening. */
  readonly consoleUrl: () => string
  readonly shared?: SharedKeys
  /** The scopes of an agent without scopes (I11). */
  readonly defaultScopes?: readonly string[]
  readonly now: Clock
  /** Appends without waiting for the commit. */
  readonly appendDeferred: (draft: EntryDraft) => void
  readonly log: Log
  readonly sleep?: Sleep
}

// A delayed response must not delay the exit of the process.
const timer: Sleep = (ms) => setTimeout(ms, undefined, { ref: false })

export async function createIdentity(deps: IdentityDeps) {
  const {
    db,
    config,
    shared = {},
    defaultScopes = ['*'],
    now,
    appendDeferred,
    log,
    sleep = timer,
  } = deps
  const store = createIdentityStore(db.dialect)
  const staticCredentials = loadStaticCredentials(config, deps.ownerToken, shared, defaultScopes)
  const failedAuth = createFailedAuth({ now, sleep, appendDeferred: appendDeferred, log })
  const sessions = createSessions(now)
  const lastSeen = new Map<string, number>()
  warnAboutWeakTokens(config, log)

  const { consoleUrl } = deps
  const peopleStore = createPeopleStore(db.dialect)
  const passkeyStore = createPasskeyStore(db.dialect)
  const commonDeps = { db, failedAuth, now, consoleUrl }
  const passkeys = createPasskeys({ ...commonDeps, store: passkeyStore, people: peopleStore })
  const peopleDeps = { ...commonDeps, store: peopleStore, log }
  const makeLink = createLinkFactory(peopleDeps)
  const people = {
    ...createPeopleAdmin({ ...peopleDeps, makeLink, removePasskeys: passkeyStore.removeByPerson }),
    ...createPersonSessions({ ...peopleDeps, makeLink }),
  }

  const listeners = new Set<() => void>()
  const view = createCachedView<CredentialIndex>({
    db,
    name: 'agents',
    initial: buildCredentialIndex(
      staticCredentials,
      { agents: [], credentials: [] },
      defaultScopes,
    ),
    read: async (tx) =>
      buildCredentialIndex(staticCredentials, await store.read(tx), defaultScopes),
    onRead() {
      for (const listener of listeners) listener()
    },
    log,
  })
  await view.current()
  await people.ensureOwner()

  async function authenticateOrThrow(
    presented: PresentedCredentials,
  ): Promise<AuthenticatedCaller> {
    const outcome = await authenticateAny(presented)
    if ('fault' in outcome) return rejectCredentials(outcome, presented)
    if (outcome.caller.verified) {
      failedAuth.succeeded(presented.address, outcome.principal)
      lastSeen.set(outcome.principal, now())
    }
    return outcome
  }

  async function authenticateAny(
    presented: PresentedCredentials,
  ): Promise<AuthenticatedCaller | AuthError> {
    const tokens = [presented.bearer, presented.agentToken]
    const ofSession = tokens.find((token) => token && isSessionToken(token))
    if (!ofSession) return authenticate(await view.current(), presented, now())
    const opened = await people.byToken(ofSession)
    const outcome = authenticateSession(opened, presented, now())
    if (opened && 'caller' in outcome) people.seen(opened.session)
    return outcome
  }

  async function rejectCredentials(
    fault: AuthError,
    { address, door }: PresentedCredentials,
  ): Promise<never> {
    const { message, hint, claimed, principal } = fault
    const failure = {
      address,
      door,
      reason: fault.fault,
      ...(claimed !== undefined && { claimed }),
    }
    // Only guesses are delayed: a client without a token gets the error immediately.
    if (fault.fault === 'wrong_token' || fault.fault === 'ended_token')
      await failedAuth.recordGuess(failure, principal)
    else failedAuth.failed(failure)
    const code = fault.fault === 'person_on_mcp' ? 'person_token_on_mcp' : 'auth_error'
    throw new CoworkError(code, message, {
      hint,
      details: { error: true, auth_error: true, message },
    })
  }

  return {
    mode: (): 'open' | 'closed' => (view.latest().isAuthRequired ? 'closed' : 'open'),
    banner: () => formatAuthBanner(view.latest(), config),
    async identify(presented: PresentedCredentials): Promise<Caller> {
      const { caller, sessionKey, session: own } = await authenticateOrThrow(presented)
      const { session, label } = presented
      if (own !== undefined) {
        const assured = passkeys.steppedUpUntil(own) !== undefined
        return { ...caller, session: own, ...(assured && { assured }) }
      }
      return {
        ...caller,
        session: session ? sessions.addConnection(session, label) : sessions.of(sessionKey, label),
      }
    },
    /** Finds the active agent with this id (A15). */
    findCaller: async (id: string) => findAgentCaller(await view.current(), id),
    /** Returns the holder of a credential: `agent:sales`, `person:owner`, `open`. */
    getPrincipal: async (presented: PresentedCredentials) =>
      (await authenticateOrThrow(presented)).principal,
    /** Returns whether a formerly valid token was rotated or its holder was revoked (I4). */
    isTokenEnded(token: string): boolean {
      const outcome = authenticate(
        view.latest(),
        { door: 'mcp', address: '', bearer: token },
        now(),
      )
      return 'fault' in outcome && outcome.fault === 'ended_token'
    },
    getSelection(token: string) {
      const outcome = authenticate(
        view.latest(),
        { door: 'mcp', address: '', bearer: token },
        now(),
      )
      return 'caller' in outcome ? outcome.caller.selection : undefined
    },
    /** Calls the listener after this daemon has read a change of the agents by any daemon. */
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Reads the agents again after a change by another daemon. */
    refresh: async () => void (await view.refresh()),
    async listAgents(): Promise<AgentWithCredentials[]> {
      const known = await view.current()
      return listAgents(known).map((agent) => {
        const lastSeenAt = lastSeen.get(agentPrincipal(agent.id))
        return {
          ...agent,
          ...(lastSeenAt !== undefined && { lastSeenAt }),
          credentials: listActiveCredentials(known, agent, now()),
        }
      })
    },
    sessions,
    people,
    passkeys,
    ...createAgentService({
      store,
      now,
      index: view.latest,
      isShared: db.dialect === 'postgres',
      invalidate: view.invalidate,
    }),
  }
}

function warnAboutWeakTokens(config: IdentityConfig, log: Log) {
  for (const { id, token, token_hash: hash } of config.agents)
    if (token !== undefined && hash === undefined && !isWellFormedToken(token))
      log.warn('weak agent token: use `cowork agents token` to create one', {
        agent: id,
      })
}
