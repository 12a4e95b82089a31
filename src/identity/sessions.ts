import type { Clock } from '#base/clock.ts'
import { newId } from '#base/ids.ts'

const idleTimeoutMs = 30 * 60_000
/** In open mode anyone can make up agent ids; the oldest session gives way. */
const maxSessions = 10_000

/**
 * Who is here since when. Where the door has no sessions of its own (I12) there is one per key, and a fresh
 * one after 30 idle minutes. All live in memory, so a restart ends them; a revoked token never asks again.
 */
export function createSessions(now: Clock) {
  // In the order of last use, so the first is the one to drop.
  const open = new Map<string, { id: string; usedAt: number }>()
  /** Of the doors: those seen under each connection, by their labelled names. */
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
    /** One of a door's own: a connection on stdio, Mcp-Session-Id on legacy HTTP. */
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

/** SESSION_ID makes a session easy to find and nothing more: two with one label stay two. */
export function withSessionLabel(id: string, label: string | undefined): string {
  const shown = label?.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 64)
  return shown ? `${shown}~${id}` : id
}
