import * as z from 'zod'
import type { Approvals } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { toSafeJson, sanitizeText } from '#base/sanitize.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Grant } from '../model.ts'
import type { Guard } from '../rules/guard.ts'
import { toAbsolutePath, parsePath } from '../rules/paths.ts'
import type { PathContext } from '../rules/paths.ts'
import { peopleGrantTools, toGrantResult } from './people-tools.ts'
import type { AccessResult, AccessRequest } from './requests.ts'
import type { Grants } from './service.ts'
import { reads, writes } from '../tools/shared-schemas.ts'
import { fileResults } from '../wire.ts'
import type { GrantResult } from '../wire.ts'

export type GrantToolDeps = {
  readonly grants: Grants
  readonly agents: Pick<Identity, 'isRevoked' | 'listAgents' | 'mode'>
  readonly approvals: () => Pick<Approvals, 'reviewUrl'>
  readonly guard: Guard
  readonly pathContext: PathContext
  readonly defaultScope: 'session' | 'permanent'
  readonly db: Db
  readonly now: Clock
}

const path = z.string().min(1).max(4096)

/** The grant tools for agents and people (GR2–GR4). */
export const grantTools = (deps: GrantToolDeps): Tool[] => [
  checkGrant(deps),
  requestGrant(deps),
  listGrants(deps),
  ...peopleGrantTools(deps),
]

function checkGrant({ grants, guard, pathContext }: GrantToolDeps) {
  return defineTool({
    ...reads,
    name: 'check_grant',
    title: 'Check access',
    description: 'Check whether you may use a path outside the workspace, and how.',
    input: z.strictObject({ path }),
    output: fileResults.check_grant,
    describeTarget: ({ path: given }) => ({
      domain: 'files',
      target: describePath(given, pathContext),
    }),
    async read({ path: given }, { caller }) {
      const parsed = parsePath(given, pathContext)
      if (parsed.area === 'workspace')
        return {
          has_access: true,
          permission: 'read-write',
          grant_id: null,
          granted_path: pathContext.workspace,
        }
      const { path: absolute } = parsed
      for (const need of ['read', 'create'] as const) {
        if (guard.checkForbidden(absolute, need)) continue
        const { grant } = await grants.decideNow(caller, absolute, need)
        if (grant && (await grants.isInPlace(grant)))
          return {
            has_access: true,
            permission: await getEffectivePermission(grant, absolute, caller),
            grant_id: grant.id,
            granted_path: grant.path,
          }
      }
      return { has_access: false, permission: null, grant_id: null, granted_path: null }
    },
  })

  /** A stale grant may still block writing under a wider grant (GR6). */
  async function getEffectivePermission({ permission }: Grant, absolute: string, caller: Caller) {
    if (permission !== 'read-write') return permission
    return (await grants.decideNow(caller, absolute, 'write')).grant ? permission : 'read'
  }
}

const requestGrant = ({ grants, approvals, pathContext }: GrantToolDeps) =>
  defineTool({
    ...writes,
    name: 'request_grant',
    title: 'Ask for access',
    core: true,
    description:
      'Ask the user for access to a path outside the workspace after a "No access" error. Call it again for the decision.',
    isRequestOnly: true,
    additive: true,
    by: 'agent',
    idempotent: true,
    input: z.strictObject({
      path,
      permission: z.enum(['read', 'read-write']),
      reason: z.string().trim().min(1).max(2000).describe('Shown to the user'),
    }),
    output: fileResults.request_grant,
    describeTarget: ({ path: given }) => ({
      domain: 'files',
      target: describePath(given, pathContext),
    }),
    async run(input: AccessRequest, call) {
      const answer = await grants.request(input, call)
      return { output: toRequestResult(answer, input, approvals().reviewUrl) }
    },
  })

function toRequestResult(
  answer: AccessResult,
  input: AccessRequest,
  reviewUrl: (id: string) => string,
) {
  if (answer.status === 'denied')
    return {
      status: 'denied' as const,
      ...(answer.reason !== undefined && { feedback: answer.reason }),
      message: ['User denied access request', answer.reason].filter(Boolean).join(': '),
      next: 'Do not ask again. Continue without access, or call cowork_handoff.',
    }
  if (answer.status === 'pending') {
    const { id } = answer.approval
    return {
      status: 'pending' as const,
      request_id: id,
      review_url: reviewUrl(id),
      message: 'Waiting for user approval',
      next: `Not an error: do not work around it. Call cowork_check_approval ${toSafeJson({ request_id: id, wait_seconds: 25 })}, or tell the user and continue with other work.`,
    }
  }
  return toGrantedResult(answer, input)
}

/** Returns the path as the ledger names it, or the input if it is not a valid path. */
function describePath(given: string, pathContext: PathContext): string {
  try {
    return toAbsolutePath(given, pathContext)
  } catch (error) {
    if (error instanceof CoworkError) return sanitizeText(given, 500)
    throw error
  }
}

function toGrantedResult(
  answer: Extract<AccessResult, { status: 'granted' }>,
  { permission }: AccessRequest,
) {
  if (!answer.grant) {
    const { path: real } = answer
    return {
      status: 'granted' as const,
      permission: 'read-write',
      ...(real !== undefined && { granted_path: real }),
      message:
        real === undefined
          ? 'The workspace needs no grant.'
          : `The path is in the workspace. Use ${real}.`,
    }
  }
  const { grant } = answer
  const isLess = permission === 'read-write' && grant.permission === 'read'
  return {
    status: 'granted' as const,
    grant_id: grant.id,
    permission: grant.permission,
    granted_path: grant.path,
    message: isLess
      ? `Access granted to read ${grant.path}, not to write.`
      : `Access granted to ${grant.path}. Use that path.`,
  }
}

const listGrants = ({ grants }: GrantToolDeps) =>
  defineTool({
    ...reads,
    name: 'list_grants',
    title: 'List grants',
    description: 'List your grants outside the workspace.',
    input: z.strictObject({}),
    output: fileResults.list_grants,
    textOnly: true,
    text: ({ grants: list }) =>
      list.length === 0
        ? 'No grants. Request access with request_grant {"path": "…", "permission": "read", "reason": "…"}.'
        : list.map(formatGrant).join('\n'),
    async read(_, { caller }) {
      const listed = await (caller.kind === 'agent' ? grants.listFor(caller) : grants.list())
      const results = listed.map(async (grant) =>
        toGrantResult(grant, await grants.isInPlace(grant)),
      )
      return { grants: await Promise.all(results) }
    },
  })

function formatGrant(grant: GrantResult): string {
  const { permission, path: granted, id, scope, expires_at: end, replaced } = grant
  const until = end === null ? '' : `, until ${end}`
  const note = replaced ? ': replaced, request access again' : ''
  return `${permission} ${sanitizeText(granted)} (${id}, ${scope}${until})${note}`
}
