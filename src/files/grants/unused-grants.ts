import * as z from 'zod'
import { computeDigest, toSingleLine } from '#approvals'
import type { Approval, ApprovalKind } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { newId } from '#base/ids.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { Grant } from '../model.ts'
import { configActorId } from './grant-writer.ts'
import type { GrantWriter } from './grant-writer.ts'
import { buildApprovalReason } from './requests.ts'
import type { GrantsDeps } from './service.ts'

const day = 24 * 60 * 60 * 1000
/** Open a review after this time without use (GR7). */
const unusedAfterMs = 60 * day

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'node' | 'approvals' | 'policyVersion' | 'now'> &
  Pick<GrantWriter, 'end'>

const findingContent = z.object({
  grant: z.object({
    id: z.string(),
    agent: z.string(),
    node: z.string(),
    path: z.string(),
    kind: z.enum(['file', 'folder']),
    dev: z.string(),
    ino: z.string(),
    born: z.string().nullable().default(null),
    permission: z.enum(['read', 'read-write', 'write', 'deny']),
    scope: z.enum(['session', 'permanent']),
    session: z.string().nullable(),
    hardLinks: z.boolean(),
    grantedAt: z.number(),
    grantedBy: z.enum(['user_explicit', 'user_implicit', 'system_setup']),
    by: z.string(),
    approval: z.string().nullable(),
    expiresAt: z.number().nullable(),
    lastAccessed: z.number().nullable(),
    accessCount: z.number(),
    revokedAt: z.number().nullable(),
    revokedBy: z.string().nullable(),
  }),
})

const coworkCaller: Caller = { ...systemActor, session: '', verified: true, scopes: [] }

/** Opens a review of a permanent grant after every 60 days without use (GR7). */
export function createUnusedGrantReview({
  db,
  config,
  node,
  approvals,
  policyVersion,
  now,
  end,
}: Deps) {
  const kind: ApprovalKind = {
    kind: 'finding',
    content: findingContent,
    ttlMs: config.approvals.ttl,
    async onDecided(tx, { content }, decision, call) {
      const grant = parseGrant(content)
      if (decision.verdict === 'approve') return { kept: true }
      const ended = await end(tx, grant, 'person', decision.by, call.caller && call.id)
      return { ended }
    },
  }

  /** Keys of reviews that exist, to save a store read. */
  const openedKeys = new Set<string>()

  async function openReviews(grants: readonly Grant[]): Promise<void> {
    await withdrawObsolete(grants)
    for (const grant of grants) {
      const usedAt = getLastUse(grant)
      const periods = Math.floor((now() - usedAt) / unusedAfterMs)
      if (periods < 1 || !isReviewable(grant)) continue
      const key = `unused-${grant.id}-${usedAt}-${periods}`
      if (openedKeys.has(key)) continue
      await db.transact(async (tx) => {
        if (!(await approvals().byKey(tx, coworkCaller.id, key)))
          await openReview(tx, grant, usedAt, key)
      })
      openedKeys.add(key)
    }
  }

  /** Withdraws reviews of grants that have ended or were used since. */
  async function withdrawObsolete(grants: readonly Grant[]): Promise<void> {
    const unusedKeys = new Set(grants.map(toUnusedKey))
    const isObsolete = ({ content }: Approval) => {
      const grant = parseGrant(content)
      return grant.node === node && !unusedKeys.has(toUnusedKey(grant))
    }
    const query = { kind: kind.kind, requester: coworkCaller.id }
    const pending = await approvals().list({ ...query, statuses: ['pending'], limit: 1000 })
    if (!pending.some(isObsolete)) return
    await db.transact(async (tx) => {
      for (const review of await approvals().pendingLike(tx, query))
        if (isObsolete(review)) await approvals().withdraw(tx, review.id, { caller: coworkCaller })
    })
  }

  function openReview(tx: Tx, grant: Grant, usedAt: number, key: string) {
    const { path, permission, agent } = grant
    const change = { path, permission, agent_id: agent, unused_since: formatRfc3339(usedAt) }
    const digest = computeDigest({
      agent: coworkCaller.id,
      action: 'keep_grant',
      target: path,
      content: change,
    })
    return approvals().open(tx, coworkCaller, newId(), {
      kind: 'finding',
      domain: 'files',
      action: 'keep_grant',
      target: path,
      summary: toSingleLine(`Unused for 60 days: keep access to ${sanitizeText(path)}?`),
      mode: 'suggest',
      risk: 'low',
      digest,
      policyVersion: policyVersion(),
      trustLevel: null,
      confidence: null,
      key: { name: key, digest },
      content: {
        change,
        why: buildApprovalReason(
          'Unused access should be revoked. Approving keeps the grant, rejecting revokes it.',
          config,
        ),
        extra: { grant },
      },
    })
  }

  return { kind, openReviews }
}

const parseGrant = ({ extra }: Approval['content']): Grant => findingContent.parse(extra).grant
const getLastUse = ({ lastAccessed, grantedAt }: Grant) => lastAccessed ?? grantedAt
const toUnusedKey = (grant: Grant) => `${grant.id} ${getLastUse(grant)}`

/** Expiring grants need no review, and grants from the configuration would be restored at the next start. */
const isReviewable = ({ permission, scope, expiresAt, by }: Grant): boolean =>
  permission !== 'deny' && scope === 'permanent' && expiresAt === null && by !== configActorId
