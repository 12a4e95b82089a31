import type { Clock } from '#base/clock.ts'
import { newId } from '#base/ids.ts'

const idleLimit = 30 * 60_000
/** In open mode anyone can make up agent ids; the oldest session gives way. */
const mostSessions = 10_000

export type Sessions = { of(key: string, label?: string): string }

/**
 * Sessions where the door has none of its own (I12): one per key, a fresh one after 30 idle minutes.
 * They live in memory, so a restart ends them; a revoked token never asks again.
 */
export function createSessions(now: Clock): Sessions {
  // In the order of last use, so the first is the one to drop.
  const open = new Map<string, { id: string; usedAt: number }>()

  return {
    of(key, label) {
      const known = open.get(key)
      const idle = !known || now() - known.usedAt >= idleLimit
      const id = idle ? labelled(newId(), label) : known.id
      open.delete(key)
      open.set(key, { id, usedAt: now() })
      for (const [oldest, { usedAt }] of open) {
        if (now() - usedAt < idleLimit && open.size <= mostSessions) break
        open.delete(oldest)
      }
      return id
    },
  }
}

/** SESSION_ID makes a session easy to find and nothing more: two with one label stay two. */
export function labelled(id: string, label: string | undefined): string {
  const shown = label?.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 64)
  return shown ? `${shown}~${id}` : id
}
