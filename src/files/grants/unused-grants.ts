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
import { whyAsked } from './requests.ts'
import type { GrantsDeps } from './service.ts'

const day = 24 * 60 * 60 * 1000
/** As long without use as makes it worth asking (GR7). */
const longUnused = 60 * day

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'node' | 'approvals' | 'policyVersion' | 'now'> &
  Pick<GrantWriter, 'end'>

const offer = z.object({
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

const cowork: Caller = { ...systemActor, session: '', verified: true, scopes: [] }

/** Lasting grants that nobody uses are offered for ending: once for each sixty days of silence (GR7). */
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
    content: offer,
    ttlMs: config.approvals.ttl,
    async onDecided(tx, { content }, decision, call) {
      const grant = offered(content)
      if (decision.verdict === 'approve') return { kept: true }
      const ended = await end(tx, grant, 'person', decision.by, call.caller && call.id)
      return { ended }
    },
  }

  /** Asked already, so that the store is not looked at each time. */
  const asked = new Set<string>()

  async function ask(grants: readonly Grant[]): Promise<void> {
    await takeBack(grants)
    for (const grant of grants) {
      const usedAt = lastUse(grant)
      const periods = Math.floor((now() - usedAt) / longUnused)
      if (periods < 1 || !isOffered(grant)) continue
      const key = `unused-${grant.id}-${usedAt}-${periods}`
      if (asked.has(key)) continue
      await db.transact(async (tx) => {
        if (!(await approvals().byKey(tx, cowork.id, key))) await open(tx, grant, usedAt, key)
      })
      asked.add(key)
    }
  }

  /** What has ended by now, or was used after all, is no question any more. */
  async function takeBack(grants: readonly Grant[]): Promise<void> {
    const asksStill = new Set(grants.map(silenceOf))
    const isOver = ({ content }: Approval) => {
      const grant = offered(content)
      return grant.node === node && !asksStill.has(silenceOf(grant))
    }
    const ours = { kind: kind.kind, requester: cowork.id }
    const waiting = await approvals().list({ ...ours, statuses: ['pending'], limit: 1000 })
    if (!waiting.some(isOver)) return
    await db.transact(async (tx) => {
      for (const offer of await approvals().pendingLike(tx, ours))
        if (isOver(offer)) await approvals().withdraw(tx, offer.id, { caller: cowork })
    })
  }

  function open(tx: Tx, grant: Grant, usedAt: number, key: string) {
    const { path, permission, agent } = grant
    const change = { path, permission, agent_id: agent, unused_since: formatRfc3339(usedAt) }
    const digest = computeDigest({
      agent: cowork.id,
      action: 'keep_grant',
      target: path,
      content: change,
    })
    return approvals().open(tx, cowork, newId(), {
      kind: 'finding',
      domain: 'files',
      action: 'keep_grant',
      target: path,
      summary: toSingleLine(`Not used for 60 days: keep access to ${sanitizeText(path)}?`),
      mode: 'suggest',
      risk: 'low',
      digest,
      policyVersion: policyVersion(),
      trustLevel: null,
      confidence: null,
      key: { name: key, digest },
      content: {
        change,
        why: whyAsked(
          'You are asked because access that nobody uses is better closed. Approving keeps it, rejecting ends it.',
          config,
        ),
        extra: { grant },
      },
    })
  }

  return { kind, ask }
}

const offered = ({ extra }: Approval['content']): Grant => offer.parse(extra).grant
const lastUse = ({ lastAccessed, grantedAt }: Grant) => lastAccessed ?? grantedAt
const silenceOf = (grant: Grant) => `${grant.id} ${lastUse(grant)}`

/** What ends by itself needs no question, and what stands in the configuration would come back. */
const isOffered = ({ permission, scope, expiresAt, by }: Grant): boolean =>
  permission !== 'deny' && scope === 'permanent' && expiresAt === null && by !== configActorId
