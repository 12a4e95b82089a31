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
  readonly where: PathContext
  readonly defaultScope: 'session' | 'permanent'
  readonly db: Db
  readonly now: Clock
}

const path = z.string().min(1).max(4096)

/** What agents ask for and see of their grants, and what people do with them (GR2–GR4). */
export const grantTools = (deps: GrantToolDeps): Tool[] => [
  checkGrant(deps),
  requestGrant(deps),
  listGrants(deps),
  ...peopleGrantTools(deps),
]

function checkGrant({ grants, guard, where }: GrantToolDeps) {
  return defineTool({
    ...reads,
    name: 'check_grant',
    title: 'Check access',
    description: 'Check whether you may use a path outside the workspace, and how.',
    input: z.strictObject({ path }),
    output: fileResults.check_grant,
    describeTarget: ({ path: given }) => ({ domain: 'files', target: namedPath(given, where) }),
    async read({ path: given }, { caller }) {
      const understood = parsePath(given, where)
      if (understood.area === 'workspace')
        return {
          has_access: true,
          permission: 'read-write',
          grant_id: null,
          granted_path: where.workspace,
        }
      const { path: abs } = understood
      for (const need of ['read', 'create'] as const) {
        if (guard.checkForbidden(abs, need)) continue
        const { grant } = await grants.decideNow(caller, abs, need)
        if (grant && (await grants.isInPlace(grant)))
          return {
            has_access: true,
            permission: await permissionAt(grant, abs, caller),
            grant_id: grant.id,
            granted_path: grant.path,
          }
      }
      return { has_access: false, permission: null, grant_id: null, granted_path: null }
    },
  })

  /** A grant that opens nothing any more may still keep a wider one from writing there (GR6). */
  async function permissionAt({ permission }: Grant, abs: string, caller: Caller) {
    if (permission !== 'read-write') return permission
    return (await grants.decideNow(caller, abs, 'write')).grant ? permission : 'read'
  }
}

const requestGrant = ({ grants, approvals, where }: GrantToolDeps) =>
  defineTool({
    ...writes,
    name: 'request_grant',
    title: 'Ask for access',
    core: true,
    description:
      'Ask the user for access to a file or folder outside the workspace, when a call answers "No access". Call it again for the outcome.',
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
    describeTarget: ({ path: given }) => ({ domain: 'files', target: namedPath(given, where) }),
    async run(asked: AccessRequest, call) {
      const answer = await grants.request(asked, call)
      return { output: requestAnswer(answer, asked, approvals().reviewUrl) }
    },
  })

function requestAnswer(
  answer: AccessResult,
  asked: AccessRequest,
  reviewUrl: (id: string) => string,
) {
  if (answer.status === 'denied')
    return {
      status: 'denied' as const,
      ...(answer.reason !== undefined && { feedback: answer.reason }),
      message: ['User denied access request', answer.reason].filter(Boolean).join(': '),
      next: 'Do not ask for it again. Work without it, or hand over with cowork_handoff.',
    }
  if (answer.status === 'pending') {
    const { id } = answer.approval
    return {
      status: 'pending' as const,
      request_id: id,
      review_url: reviewUrl(id),
      message: 'Waiting for user approval',
      next: `Not a failure: do not work around it. Call cowork_check_approval ${toSafeJson({ request_id: id, wait_seconds: 25 })}, or tell the user and go on with other work.`,
    }
  }
  return grantedAnswer(answer, asked)
}

/** As the ledger names files; what is no path is named as it was given. */
function namedPath(given: string, where: PathContext): string {
  try {
    return toAbsolutePath(given, where)
  } catch (error) {
    if (error instanceof CoworkError) return sanitizeText(given, 500)
    throw error
  }
}

function grantedAnswer(
  answer: Extract<AccessResult, { status: 'granted' }>,
  { permission }: AccessRequest,
) {
  if (!answer.grant) {
    const { path: really } = answer
    return {
      status: 'granted' as const,
      permission: 'read-write',
      ...(really !== undefined && { granted_path: really }),
      message:
        really === undefined
          ? 'The workspace is always open: no grant is needed.'
          : `It is in the workspace, as ${really}: use that path.`,
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
      ? `The user allowed reading ${grant.path}, not writing.`
      : `Access granted to ${grant.path}. Use that path.`,
  }
}

const listGrants = ({ grants }: GrantToolDeps) =>
  defineTool({
    ...reads,
    name: 'list_grants',
    title: 'List grants',
    description: 'List what you may use outside the workspace.',
    input: z.strictObject({}),
    output: fileResults.list_grants,
    textOnly: true,
    text: ({ grants: list }) =>
      list.length === 0
        ? 'Nothing outside the workspace is granted. Ask with request_grant {"path": "…", "permission": "read", "reason": "…"}.'
        : list.map(formatGrant).join('\n'),
    async read(_, { caller }) {
      const listed = await (caller.kind === 'agent' ? grants.of(caller) : grants.list())
      const shown = listed.map(async (grant) => toGrantResult(grant, await grants.isInPlace(grant)))
      return { grants: await Promise.all(shown) }
    },
  })

function formatGrant(grant: GrantResult): string {
  const { permission, path: granted, id, scope, expires_at: end, replaced } = grant
  const until = end === null ? '' : `, until ${end}`
  const gone = replaced ? ': not there any more, ask anew' : ''
  return `${permission} ${sanitizeText(granted)} (${id}, ${scope}${until})${gone}`
}
