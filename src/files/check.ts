import type { CallAttempt, Verdict } from '#base/call-check.ts'
import { CoworkError } from '#base/errors.ts'
import { toTouchedData } from '#ledger'
import { hasCode } from './error-text.ts'
import { isOwner } from './grants/temporary-grants.ts'
import type { Grants } from './grants/service.ts'
import type { PathResolver } from './path-resolver.ts'

/** Checks paths and grants first, so that no person is asked about a call that cannot run. */
export const checkFiles =
  (resolver: Pick<PathResolver, 'resolve' | 'describePath'>) =>
  async ({ tool, caller, input }: CallAttempt): Promise<Verdict> => {
    const requests = tool.paths?.(input) ?? []
    for (const request of requests)
      try {
        await resolver.resolve(caller, request)
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        const { code, message, hint, details } = error
        const isAboutGrants = hasCode(error, 'no_grant', 'read_only_grant')
        if (request.ownerNeedsNoGrant && isOwner(caller) && isAboutGrants) continue
        const files = requests.map((other) => ({
          ...resolver.describePath(other.path),
          ...(other === request && { code }),
        }))
        return {
          mode: 'refuse',
          code,
          message,
          ...(hint && { hint }),
          details,
          ...(files.length > 1 && { entryData: toTouchedData(files) }),
        }
      }
    return { mode: 'act' }
  }

/** Inspects requested paths that may have been replaced (PV9), before the transaction of the decision. */
export const inspectReplacedTargets =
  (grants: Pick<Grants, 'inspectReplaced'>) =>
  async ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): Promise<Verdict> => {
    const ids = tool.approves?.(input) ?? []
    if (ids !== 'unknown' && ids.length > 0) await grants.inspectReplaced(ids)
    return { mode: 'act' }
  }
