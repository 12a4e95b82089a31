import type { CallAttempt, Verdict } from '#base/call-check.ts'
import { CoworkError } from '#base/errors.ts'
import { toTouchedData } from '#ledger'
import { hasCode } from './error-text.ts'
import { isOwner } from './grants/temporary-grants.ts'
import type { Grants } from './grants/service.ts'
import type { PathResolver } from './path-resolver.ts'

/** Paths, grants and what no grant lifts, before a person is asked about a call that could not run anyway. */
export const checkFiles =
  (places: Pick<PathResolver, 'place' | 'named'>) =>
  async ({ tool, caller, input }: CallAttempt): Promise<Verdict> => {
    const wanted = tool.paths?.(input) ?? []
    for (const one of wanted)
      try {
        await places.place(caller, one)
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        const { code, message, hint, details } = error
        const isAboutGrants = hasCode(error, 'no_grant', 'read_only_grant')
        if (one.ownerNeedsNoGrant && isOwner(caller) && isAboutGrants) continue
        const files = wanted.map((other) => ({
          ...places.named(other.path),
          ...(other === one && { code }),
        }))
        const told = files.length > 1 ? { told: toTouchedData(files) } : {}
        return { mode: 'refuse', code, message, ...(hint && { hint }), details, ...told }
      }
    return { mode: 'act' }
  }

/** What was asked for may be another by now (PV9): looked at here, where nobody waits for it. */
export const inspectReplacedTargets =
  (grants: Pick<Grants, 'look'>) =>
  async ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): Promise<Verdict> => {
    const ids = tool.approves?.(input) ?? []
    if (ids !== 'unknown' && ids.length > 0) await grants.look(ids)
    return { mode: 'act' }
  }
