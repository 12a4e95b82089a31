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
import { matchesPattern, holdsValues, buildPattern, patternText } from './rules/argument-pattern.ts'
import { parsePattern, describePattern } from './rules/argument-pattern.ts'
import type { Arguments, Fingerprint } from './rules/argument-pattern.ts'
import type { GovernanceStore, PermissionRow } from './store.ts'

/** What is let go with a permission, as who gives it is told. */
export type ReleasedCalls = readonly { readonly id: string; readonly summary: string }[]

export type Permissions = ReturnType<typeof createPermissions>

/** Standing permissions: what a person allowed for longer than once, and can take back (Y8). */
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
  const argumentsOf = (approval: Approval) => toArguments(approvals().openCall(approval).change)

  /** Never what is riskier than what the person looked at. */
  const covers = (row: PermissionRow, args: Arguments, risk: Risk): boolean =>
    risks.indexOf(risk) <= risks.indexOf(row.risk ?? 'low') &&
    matchesPattern(parsePattern(row.arguments, fingerprint), args, fingerprint)

  return {
    async covering(
      reader: Reader,
      caller: Caller,
      { tool, args, risk }: { tool: string; args: Arguments; risk: Risk },
    ): Promise<PermissionRow | undefined> {
      const rows = await store.livePermissions(reader, caller.id, tool)
      return rows.find(
        (row) =>
          isOwnRecord(caller, row.agent, row.at) &&
          isLive(row, caller.session, now()) &&
          covers(row, args, risk),
      )
    },

    /** Counts a use in the transaction that starts the call, so that N uses are N. */
    async use(tx: Tx, { id }: PermissionRow, by: Actor): Promise<void> {
      if (!(await count(tx, id, by)))
        throw new CoworkError('permission_ended', 'The permission for this call has just ended.', {
          hint: 'Call again: a person is asked.',
        })
    },

    /** Remembers what was allowed, and lets the equal calls go that wait already. Nobody looked at those. */
    async grant(
      tx: Tx,
      approval: Approval,
      allow: Allowance,
      decision: Decision,
      call: DecisionContext,
    ): Promise<{ permission: string; also?: ReleasedCalls }> {
      const pattern = patternText(buildPattern(argumentsOf(approval), allow, fingerprint))
      const row = rowOf(approval, allow, pattern, decision.by.id, now())
      await store.permit(tx, row)
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
        const isEqual = other.action === action && covers(row, argumentsOf(other), other.risk)
        if (!isEqual || other.requiredApprovals > 1 || !sameSession(row, other.session)) continue
        if (await agents.isRemoved(tx, requester, other.createdAt)) continue
        // A use each: what clears the queue must not outlast the permission.
        if (!(await count(tx, row.id, decision.by))) break
        await approvals().decide(tx, other.id, plain, call)
        also.push({ id: other.id, summary: other.summary })
      }
      return { permission: row.id, ...(also.length > 0 && { also }) }
    },

    async list(reader: Reader) {
      const rows = await store.permissions(reader)
      return rows
        .filter((row) => isLive(row, row.session, now()))
        .map((row) => shown(row, describePattern(parsePattern(row.arguments, fingerprint))))
    },

    /** Earlier versions stored the values of arguments; from now on only fingerprints (A14). */
    async convert(db: Db): Promise<void> {
      await db.transact(async (tx) => {
        const old = (await store.allPermissions(tx)).filter((row) => holdsValues(row.arguments))
        for (const row of old) {
          const after = { ...row, arguments: patternText(parsePattern(row.arguments, fingerprint)) }
          await store.repattern(tx, row.id, after.arguments)
          const stored = storedPermission(after, row)
          const data = { permission: row.id, agent_id: row.agent, ...stored }
          tx.append({ type: 'permission.redacted', actor: systemActor, data })
        }
      })
    },

    async revoke(tx: Tx, id: string, call: Call): Promise<void> {
      const row = await store.revoke(tx, id, now())
      if (!row)
        throw new CoworkError('not_found', `There is no permission ${JSON.stringify(id)}.`, {
          hint: '`cowork permissions` lists them.',
        })
      tx.append({
        type: 'permission.revoked',
        actor: toActor(call.caller),
        ids: { call: call.id },
        data: { permission: id, ...storedPermission(row) },
      })
    },

    /** Those of one that is revoked, and the domains that it was let into: who has its name later asks anew. */
    async endOf(tx: Tx, agent: string, { id, caller }: Pick<Call, 'id' | 'caller'>): Promise<void> {
      const ended = (data: Readonly<Record<string, unknown>>) =>
        tx.append({
          type: 'permission.revoked',
          actor: toActor(caller),
          ids: { call: id },
          data: { ...data, agent_id: agent, reason: 'agent_revoked' },
        })
      for (const row of await store.endPermissions(tx, agent, now()))
        ended({ permission: row.id, ...storedPermission(row) })
      for (const row of await store.unmap(tx, agent))
        ended({
          mapping: { agent_id: agent, domain: row.domain, policy_id: row.policy },
          ...droppedMapping(row),
        })
    },
  }
}

/** Refuses what cannot be granted, before anything is written. */
export function validateAllowance(
  allow: Allowance,
  change: unknown,
  show: Approvals['redactForDisplay'],
  at: number,
): void {
  if (allow.for === 'until' && !(Date.parse(allow.until ?? '') > at))
    throw new CoworkError('invalid_input', 'A permission until a time needs a time to come.', {
      hint: 'Give `until` as 2027-01-31T18:00:00Z.',
    })
  if (allow.for === 'uses' && !allow.uses)
    throw new CoworkError('invalid_input', 'A permission for some uses needs their number.', {
      hint: 'Give `uses`, 1 or more.',
    })
  for (const [name, glob] of Object.entries(allow.arguments ?? {}))
    if (glob !== '*' && canonicalJson(show({ [name]: glob })) !== canonicalJson({ [name]: glob }))
      throw new CoworkError('invalid_input', `The pattern of ${name} would store a credential.`, {
        hint: 'Give `*` for it, or no pattern and `rest: exact`: then it must stay as it was approved.',
      })
  const args = toArguments(change)
  const asIs: Fingerprint = (_, value) => canonicalJson(value)
  if (allow.for !== 'once' && !matchesPattern(buildPattern(args, allow, asIs), args, asIs))
    throw new CoworkError('invalid_input', 'The permission would not cover the call it is for.', {
      hint: 'Give globs that fit its arguments, by their names; none for exactly this call.',
    })
}

function rowOf(
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

const sameSession = (row: PermissionRow, session: string | null) =>
  row.session === null || row.session === session

const isLive = (row: PermissionRow, session: string | null, at: number): boolean =>
  (row.uses_left === null || row.uses_left > 0) &&
  (row.expires_at === null || row.expires_at > at) &&
  sameSession(row, session)

function shown(row: PermissionRow, pattern: ReturnType<typeof describePattern>) {
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
