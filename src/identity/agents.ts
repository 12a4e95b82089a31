import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { toFields, toSelection } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import { parseAgentId, listAgents, agentPrincipal } from './credentials.ts'
import type { CredentialIndex } from './credentials.ts'
import { buildIdentityEntry } from './entries.ts'
import type { ActingCall } from './entries.ts'
import { assertNotReserved, normalizeStoredId } from './ids.ts'
import type { IdentityStore } from './store.ts'
import { hashPrefix, mintToken } from './token.ts'
import type { NewToken } from './token.ts'

const minute = 60_000

type Deps = {
  readonly store: IdentityStore
  readonly now: Clock
  readonly index: () => CredentialIndex
  readonly isShared: boolean
  /** Called inside every transaction that changes agents. */
  readonly invalidate: () => void
}

/** Cleans up another module's records of an agent, in the transaction that revokes it. */
type OnAgentRevoked = (tx: Tx, id: string, by: ActingCall) => Promise<void>

/** Manages the agents in the store. Agents of config and environment are read-only. */
export function createAgentService({ store, now, index, isShared, invalidate }: Deps) {
  const revocationHandlers = new Set<OnAgentRevoked>()

  const getReadOnlySource = (id: string) => {
    const holder = index().holders.get(agentPrincipal(id))
    return holder?.kind === 'agent' && holder.source !== 'store' ? holder.source : undefined
  }

  function assertWritable(id: string) {
    const source = getReadOnlySource(id)
    if (!source) return
    throw new CoworkError('agent_read_only', `Agent ${id} cannot be changed here.`, {
      hint:
        source === 'config'
          ? 'Edit the agent in cowork.yaml and restart.'
          : "Change the key in the daemon's environment and restart.",
    })
  }

  /** Returns whether config or environment contain an agent, which turns on authentication. */
  const hasStaticAgents = () => listAgents(index()).some((a) => a.source !== 'store' && !a.shared)

  const agentNotFoundError = (id: string) =>
    new CoworkError('not_found', `Unknown or revoked agent: ${id}.`, {
      hint: 'Run `cowork agents ls` to list agents, or add the agent with `cowork agents add <id>`.',
    })

  /**
   * Returns whether this id still belongs to the same agent as at that time: not revoked, not replaced, and not excluded by
   * turning on authentication. Reads the store, because the cache may be stale (I4).
   */
  async function isSameAgent(reader: Reader, id: string, at: number): Promise<boolean> {
    if (getReadOnlySource(id)) return true
    const agent = await store.find(reader, id)
    if (agent) return agent.revokedAt === undefined && agent.createdAt <= at
    return !hasStaticAgents() && (await store.isEmpty(reader))
  }

  return {
    async addAgent(
      tx: Tx,
      input: {
        id: string
        scopes?: readonly string[] | undefined
        selection?: ToolSelection | undefined
      },
      by: ActingCall,
    ): Promise<NewToken & { id: string; authEnabled: boolean }> {
      invalidate()
      const id = parseAgentId(input.id)
      assertNotReserved(id)
      const at = now()
      const minted = mintToken()
      // Reads the store, because the cache may miss agents that another daemon added.
      const authEnabled = !hasStaticAgents() && (await store.isEmpty(tx))
      if (getReadOnlySource(id) || !(await store.save(tx, id, input, at)))
        throw new CoworkError('agent_exists', `Agent already exists: ${id}.`, {
          hint: 'Choose another id, or rotate its token with `cowork agents rotate`.',
        })
      await store.endCredentials(tx, id, at)
      await store.addCredential(tx, id, minted.hash, at)
      const { scopes, selection } = input
      const hash_prefix = hashPrefix(minted.hash)
      const chosen = { ...(scopes && { scopes }), ...toFields(selection) }
      tx.append(buildIdentityEntry(by, 'agent.added', id, { hash_prefix, ...chosen }))
      return { id, ...minted, authEnabled }
    },

    /** Changes the tools of an agent. Absent fields stay unchanged: omitting one never allows more. */
    async setTools(
      tx: Tx,
      given: SelectionFields & { id: string },
      by: ActingCall,
    ): Promise<{ id: string; selection: ToolSelection | undefined }> {
      invalidate()
      const id = normalizeStoredId(given.id)
      assertWritable(id)
      const agent = await store.lock(tx, id)
      const before = toFields(agent?.selection)
      const selection = toSelection({
        tools: given.tools ?? before.tools,
        exclude: given.exclude ?? before.exclude,
        read_only: given.read_only ?? before.read_only,
      })
      if (!(await store.setSelection(tx, id, selection))) throw agentNotFoundError(id)
      tx.append(buildIdentityEntry(by, 'agent.changed', id, toFields(selection)))
      return { id, selection }
    },

    /** Replaces the token of an agent. The old token stays valid for the overlap. */
    async rotateAgent(
      tx: Tx,
      given: { id: string; overlapMinutes: number },
      by: ActingCall,
    ): Promise<NewToken & { id: string; oldEndsAt: number }> {
      invalidate()
      const id = normalizeStoredId(given.id)
      assertWritable(id)
      const agent = await store.find(tx, id)
      if (!agent || agent.revokedAt !== undefined) throw agentNotFoundError(id)
      const at = now()
      const minted = mintToken()
      const oldEndsAt = at + given.overlapMinutes * minute
      await store.endCredentials(tx, id, oldEndsAt)
      await store.addCredential(tx, id, minted.hash, at)
      tx.append(
        buildIdentityEntry(by, 'agent.rotated', id, {
          hash_prefix: hashPrefix(minted.hash),
          overlap_minutes: given.overlapMinutes,
        }),
      )
      return { id, ...minted, oldEndsAt }
    },

    /** Returns whether the agent is revoked. False for an id that was never registered. */
    async isRevoked(reader: Reader, id: string): Promise<boolean> {
      return !getReadOnlySource(id) && (await store.find(reader, id))?.revokedAt !== undefined
    },

    isSameAgent,

    /**
     * Returns whether the agent is certainly gone. Other daemons of a shared store may have agents in their environment that
     * this daemon does not know.
     */
    async isRemoved(reader: Reader, id: string, at: number): Promise<boolean> {
      if (isShared && !(await store.find(reader, id))) return false
      return !(await isSameAgent(reader, id, at))
    },

    onRevoked(act: OnAgentRevoked): () => void {
      revocationHandlers.add(act)
      return () => void revocationHandlers.delete(act)
    },

    async revokeAgent(
      tx: Tx,
      given: { id: string },
      by: ActingCall,
    ): Promise<{ id: string; at: number }> {
      invalidate()
      const id = normalizeStoredId(given.id)
      assertWritable(id)
      const at = now()
      if (!(await store.revoke(tx, id, at))) throw agentNotFoundError(id)
      const ended = await store.endCredentials(tx, id, at)
      tx.append(
        buildIdentityEntry(by, 'agent.revoked', id, { hash_prefixes: ended.map(hashPrefix) }),
      )
      for (const act of revocationHandlers) await act(tx, id, by)
      return { id, at }
    },
  }
}
