import { risks } from '#approvals'
import type { Approval, Approvals, DecisionContext, Decision, Risk } from '#approvals'
import { toActor, isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Reader, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson } from '#base/hash.ts'
import { newId } from '#base/ids.ts'
import type { Call } from '#base/tool.ts'
import type { Identity } from '#identity'
import type { Allowance } from './answers.ts'
import { droppedMapping, storedPermission } from './recorded-tables.ts'
import {
  matchesPattern,
  containsValues,
  buildPattern,
  formatPattern,
} from './rules/argument-pattern.ts'
import { parsePattern, describePattern } from './rules/argument-pattern.ts'
import type { Arguments, Fingerprint } from './rules/argument-pattern.ts'
import type { GovernanceStore, PermissionRow } from './store.ts'

/** The calls that a permission releases, as shown to the person who grants it. */
export type ReleasedCalls = readonly { readonly id: string; readonly summary: string }[]

export type Permissions = ReturnType<typeof createPermissions>

/** Standing permissions: people grant them for later calls and can revoke them (Y8). */
export function createPermissions(
  store: GovernanceStore,
  now: Clock,
  agents: Pick<Identity, 'isRemoved'>,
  approvals: () => Pick<Approvals, 'decide' | 'pendingLike' | 'openCall' | 'fingerprint'>,
) {
  async function count(tx: Tx, id: string, actor: Actor): Promise<boolean> {
    const row = await store.use(tx, id, now())
    if (row && row.uses_left !== null) {
      const before = { ...row, uses_left: row.uses_left + 1 }
      tx.append({
        type: 'permission.used',
        actor,
        subject: row.tool,
        ids: { approval: row.approval },
        data: { permission: id, agent_id: row.agent, ...storedPermission(row, before) },
      })
    }
    return row !== undefined
  }

  const fingerprint: Fingerprint = (name, value) => approvals().fingerprint(name, value)
  const getArguments = (approval: Approval) => toArguments(approvals().openCall(approval).change)

  /** Never covers a call that is riskier than the reviewed one. */
  const covers = (row: PermissionRow, args: Arguments, risk: Risk): boolean =>
    risks.indexOf(risk) <= risks.indexOf(row.risk ?? 'low') &&
    matchesPattern(parsePattern(row.arguments, fingerprint), args, fingerprint)

  return {
    async findCovering(
      reader: Reader,
      caller: Caller,
      { tool, args, risk }: { tool: string; args: Arguments; risk: Risk },
    ): Promise<PermissionRow | undefined> {
      const rows = await store.livePermissions(reader, caller.id, tool)
      return rows.find(
        (row) =>
          isOwnRecord(caller, row.agent, row.at) &&
          isActive(row, caller.session, now()) &&
          covers(row, args, risk),
      )
    },

    /** Counts a use in the transaction that starts the call, so that N uses are exactly N. */
    async use(tx: Tx, { id }: PermissionRow, by: Actor): Promise<void> {
      if (!(await count(tx, id, by)))
        throw new CoworkError('permission_ended', 'The permission for this call has ended.', {
          hint: 'Call again to request approval.',
        })
    },

    /** Stores the permission and releases pending calls that it covers. Nobody reviewed those. */
    async grant(
      tx: Tx,
      approval: Approval,
      allow: Allowance,
      decision: Decision,
      call: DecisionContext,
    ): Promise<{ permission: string; also?: ReleasedCalls }> {
      const pattern = formatPattern(buildPattern(getArguments(approval), allow, fingerprint))
      const row = toRow(approval, allow, pattern, decision.by.id, now())
      await store.addPermission(tx, row)
      tx.append({
        type: 'permission.granted',
        actor: decision.by,
        domain: approval.domain,
        subject: approval.action,
        ids: { approval: approval.id },
        data: {
          permission: row.id,
          agent_id: row.agent,
          lasts: row.lasts,
          ...(row.uses_left !== null && { uses: row.uses_left }),
          ...(row.expires_at !== null && { until: row.expires_at }),
          ...storedPermission(row),
        },
      })
      const { change: _, ...rest } = decision
      const plain = { ...rest, more: { cleared_by: row.id } }
      const { requester, domain, action } = approval
      const also: { id: string; summary: string }[] = []
      const waiting = await approvals().pendingLike(tx, { kind: 'call', requester, domain })
      for (const other of waiting) {
        const isEqual = other.action === action && covers(row, getArguments(other), other.risk)
        if (!isEqual || other.requiredApprovals > 1 || !isSameSession(row, other.session)) continue
        if (await agents.isRemoved(tx, requester, other.createdAt)) continue
        // Each released call counts as a use: releases must not exceed the permission.
        if (!(await count(tx, row.id, decision.by))) break
        await approvals().decide(tx, other.id, plain, call)
        also.push({ id: other.id, summary: other.summary })
      }
      return { permission: row.id, ...(also.length > 0 && { also }) }
    },

    async list(reader: Reader) {
      const rows = await store.permissions(reader)
      return rows
        .filter((row) => isActive(row, row.session, now()))
        .map((row) => toResult(row, describePattern(parsePattern(row.arguments, fingerprint))))
    },

    /** Earlier versions stored argument values; later ones store only fingerprints (A14). */
    async convert(db: Db): Promise<void> {
      await db.transact(async (tx) => {
        const old = (await store.allPermissions(tx)).filter((row) => containsValues(row.arguments))
        for (const row of old) {
          const after = {
            ...row,
            arguments: formatPattern(parsePattern(row.arguments, fingerprint)),
          }
          await store.updatePattern(tx, row.id, after.arguments)
          const stored = storedPermission(after, row)
          const data = { permission: row.id, agent_id: row.agent, ...stored }
          tx.append({ type: 'permission.redacted', actor: systemActor, data })
        }
      })
    },

    async revoke(tx: Tx, id: string, call: Call): Promise<void> {
      const row = await store.revoke(tx, id, now())
      if (!row)
        throw new CoworkError('not_found', `Unknown permission: ${JSON.stringify(id)}.`, {
          hint: 'List permissions with `cowork permissions`.',
        })
      tx.append({
        type: 'permission.revoked',
        actor: toActor(call.caller),
        ids: { call: call.id },
        data: { permission: id, ...storedPermission(row) },
      })
    },

    /** Revokes the permissions and domain mappings of a revoked agent: a later agent with its name must ask again. */
    async revokeAll(
      tx: Tx,
      agent: string,
      { id, caller }: Pick<Call, 'id' | 'caller'>,
    ): Promise<void> {
      const ended = (data: Readonly<Record<string, unknown>>) =>
        tx.append({
          type: 'permission.revoked',
          actor: toActor(caller),
          ids: { call: id },
          data: { ...data, agent_id: agent, reason: 'agent_revoked' },
        })
      for (const row of await store.revokePermissions(tx, agent, now()))
        ended({ permission: row.id, ...storedPermission(row) })
      for (const row of await store.removeMappings(tx, agent))
        ended({
          mapping: { agent_id: agent, domain: row.domain, policy_id: row.policy },
          ...droppedMapping(row),
        })
    },
  }
}

/** Refuses an invalid permission before anything is written. */
export function validateAllowance(
  allow: Allowance,
  change: unknown,
  show: Approvals['redactForDisplay'],
  at: number,
): void {
  if (allow.for === 'until' && !(Date.parse(allow.until ?? '') > at))
    throw new CoworkError('invalid_input', 'Invalid `until`: a future time is required.', {
      hint: 'Set `until` to a time such as 2027-01-31T18:00:00Z.',
    })
  if (allow.for === 'uses' && !allow.uses)
    throw new CoworkError('invalid_input', 'Missing `uses`: a number is required.', {
      hint: 'Set `uses` to 1 or more.',
    })
  for (const [name, glob] of Object.entries(allow.arguments ?? {}))
    if (glob !== '*' && canonicalJson(show({ [name]: glob })) !== canonicalJson({ [name]: glob }))
      throw new CoworkError(
        'invalid_input',
        `Invalid pattern of ${name}: it contains a credential.`,
        {
          hint: 'Set `*`, or omit the pattern and set `rest: exact` to require the approved value.',
        },
      )
  const args = toArguments(change)
  const asIs: Fingerprint = (_, value) => canonicalJson(value)
  if (allow.for !== 'once' && !matchesPattern(buildPattern(args, allow, asIs), args, asIs))
    throw new CoworkError('invalid_input', 'The permission does not cover the approved call.', {
      hint: 'Set globs that match the arguments of the call, or none for exactly this call.',
    })
}

function toRow(
  approval: Approval,
  allow: Allowance,
  pattern: string,
  by: string,
  at: number,
): PermissionRow {
  return {
    id: newId(),
    agent: approval.requester,
    tool: approval.action,
    arguments: pattern,
    lasts: allow.for,
    uses_left: allow.for === 'uses' ? (allow.uses ?? 0) : null,
    session: allow.for === 'session' ? approval.session : null,
    expires_at: allow.for === 'until' ? Date.parse(allow.until ?? '') : null,
    approval: approval.id,
    by,
    at,
    last_used_at: null,
    revoked_at: null,
    risk: approval.risk,
  }
}

const toArguments = (change: unknown): Arguments =>
  typeof change === 'object' && change !== null ? (change as Arguments) : {}

const isSameSession = (row: PermissionRow, session: string | null) =>
  row.session === null || row.session === session

const isActive = (row: PermissionRow, session: string | null, at: number): boolean =>
  (row.uses_left === null || row.uses_left > 0) &&
  (row.expires_at === null || row.expires_at > at) &&
  isSameSession(row, session)

function toResult(row: PermissionRow, pattern: ReturnType<typeof describePattern>) {
  return {
    id: row.id,
    agent_id: row.agent,
    tool: row.tool,
    ...pattern,
    for: row.lasts,
    uses_left: row.uses_left,
    session: row.session,
    expires_at: row.expires_at === null ? null : formatRfc3339(row.expires_at),
    granted_by: row.by,
    granted_at: formatRfc3339(row.at),
    last_used_at: row.last_used_at === null ? null : formatRfc3339(row.last_used_at),
  }
}
