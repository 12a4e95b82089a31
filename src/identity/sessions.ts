import type { Clock } from '#base/clock.ts'
import { newId } from '#base/ids.ts'

const idleTimeoutMs = 30 * 60_000
/** With authentication off, callers can invent agent ids; beyond this limit the oldest session ends. */
const maxSessions = 10_000

/**
 * Tracks sessions in memory, so a restart ends them. A transport without sessions gets one per key (I12), which expires
 * after 30 idle minutes.
 */
export function createSessions(now: Clock) {
  // Ordered by last use, so that the first session is the oldest.
  const open = new Map<string, { id: string; usedAt: number }>()
  /** Labeled session ids by connection, for transports with sessions. */
  const endpointSessions = new Map<string, Set<string>>()
  const listeners = new Set<(session: string) => void>()

  const isIdle = ({ usedAt }: { usedAt: number }) => now() - usedAt >= idleTimeoutMs
  const notifyEnd = (id: string) => {
    for (const listener of listeners) listener(id)
  }

  return {
    of(key: string, label?: string): string {
      const current = open.get(key)
      const isEnded = !current || isIdle(current)
      const id = isEnded ? withSessionLabel(newId(), label) : current.id
      open.delete(key)
      open.set(key, { id, usedAt: now() })
      if (current && isEnded) notifyEnd(current.id)
      for (const [oldest, session] of open) {
        if (!isIdle(session) && open.size <= maxSessions) break
        open.delete(oldest)
        notifyEnd(session.id)
      }
      return id
    },
    /** Adds a session of the transport: a connection on stdio, Mcp-Session-Id on legacy HTTP. */
    addConnection(connection: string, label?: string): string {
      const id = withSessionLabel(connection, label)
      const known = endpointSessions.get(connection)
      if (known) known.add(id)
      else endpointSessions.set(connection, new Set([id]))
      return id
    },
    endConnection(connection: string): void {
      const ids = endpointSessions.get(connection)
      endpointSessions.delete(connection)
      for (const id of ids ?? []) notifyEnd(id)
    },
    has: (id: string): boolean =>
      endpointSessions.get(id.slice(id.lastIndexOf('~') + 1))?.has(id) === true ||
      open.values().some((session) => session.id === id && !isIdle(session)),
    onEnd(listener: (session: string) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Prefixes a session id with SESSION_ID, so that people can find it. Sessions with the same label stay separate. */
export function withSessionLabel(id: string, label: string | undefined): string {
  const shown = label?.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 64)
  return shown ? `${shown}~${id}` : id
}
