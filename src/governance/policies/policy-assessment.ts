import { RE2JS } from 're2js'
import type * as z from 'zod'
import type { Mode } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Config } from '#base/config/index.ts'
import { compileObjectSchema } from '#base/config/json-schema.ts'
import type { Reader } from '#base/db/port.ts'
import type { EntryLookup, Entry } from '#ledger'
import type { Policy } from '../rules/policy.ts'
import type { Reasoning } from '../tools/propose.ts'
import { isCompletedCall, isVisibleTo } from '#ledger'

type Schema = Config['reasoning_schemas'][number]

type Criterion = Reasoning['criteria'][string]

export type Assessment = {
  /** Null without a schema: then only the sources were checked. */
  readonly schema_id: string | null
  readonly valid: boolean
  readonly missing: readonly string[]
  readonly stale: readonly string[]
  readonly unverified: readonly string[]
  /** Other issues, as text. */
  readonly problems: readonly string[]
}

/** The clock of an agent may be ahead by this much. */
const maxClockAheadMs = 5 * 60_000

type Ready = { readonly schema: Schema; readonly json?: z.ZodType; readonly source?: RE2JS }

export type Reasonings = ReturnType<typeof createReasonings>

/** Checks structured reasoning: its shape by a schema, its sources by the ledger (R1, R2). */
export function createReasonings(
  schemas: readonly Schema[],
  lookup: EntryLookup,
  guardedToolsets: readonly string[],
) {
  const ready = new Map<string, Ready>(
    schemas.map((schema) => {
      const { id, json_schema: json, source_pattern: source } = schema
      return [
        id,
        {
          schema,
          ...(json && { json: compileObjectSchema(json) }),
          ...(source !== undefined && { source: RE2JS.compile(source) }),
        },
      ]
    }),
  )
  const findSchema = (policy: Policy | undefined) =>
    policy?.reasoning_schema === undefined ? undefined : ready.get(policy.reasoning_schema)

  return {
    isNeeded: (policy: Policy | undefined, reasoning: Reasoning | undefined): boolean =>
      reasoning !== undefined || findSchema(policy) !== undefined,

    async check(
      reader: Reader,
      { by, policy, reasoning, at }: { by: Caller; at: number } & ReasoningInput,
    ): Promise<Assessment> {
      const required = findSchema(policy)
      const sources = Object.values(reasoning?.criteria ?? {}).flatMap(({ source }) => source ?? [])
      const maxAge = required?.schema.max_age
      const since = maxAge === undefined ? 0 : at - maxAge
      const failed = await findUnverifiedSources(
        lookup,
        reader,
        by,
        sources,
        since,
        guardedToolsets,
      )
      return assess(required, reasoning, failed, at)
    },

    /** Assesses recorded reasoning again, with the source check of that time. */
    reassess: (
      { policy, reasoning, at }: { at: number } & ReasoningInput,
      failed: readonly string[],
    ) => assess(findSchema(policy), reasoning, failed, at),

    /** Returns the mode that failed reasoning requires at least; undefined if it changes nothing. */
    getFloor(policy: Policy | undefined, { valid }: Assessment): Mode | undefined {
      const required = findSchema(policy)
      if (!required || valid || required.schema.on_fail === 'warn') return undefined
      return required.schema.on_fail
    },
  }
}

type ReasoningInput = {
  readonly policy: Policy | undefined
  readonly reasoning: Reasoning | undefined
}

function assess(
  required: Ready | undefined,
  reasoning: Reasoning | undefined,
  failed: readonly string[],
  at: number,
): Assessment {
  const criteria = reasoning?.criteria ?? {}
  const names = Object.keys(criteria)
  const missing = (required?.schema.required ?? []).filter((name) => !hasValue(criteria, name))
  const maxAge = required?.schema.max_age
  const stale =
    maxAge === undefined ? [] : names.filter((name) => isStale(criteria[name], maxAge, at))
  const refused = names.flatMap((name) => {
    const source = criteria[name]?.source
    return required?.source && source !== undefined && !required.source.test(source) ? [source] : []
  })
  const problems = [...findIssues(required, reasoning)]
  const bad = [...new Set([...failed, ...refused])]
  return {
    schema_id: required?.schema.id ?? null,
    valid: missing.length + stale.length + bad.length + problems.length === 0,
    missing,
    stale,
    unverified: bad,
    problems,
  }
}

function hasValue(criteria: Reasoning['criteria'], name: string): boolean {
  if (!Object.hasOwn(criteria, name)) return false
  const value = criteria[name]?.value
  return value !== undefined && value !== null
}

/** A criterion without a time, or with a future time, is stale. */
function isStale(criterion: Criterion | undefined, maxAge: number, at: number): boolean {
  const time = parseTime(criterion?.timestamp)
  return !(time >= at - maxAge && time <= at + maxClockAheadMs)
}

function parseTime(timestamp: string | number | undefined): number {
  if (typeof timestamp === 'number') return timestamp
  // Other formats are parsed differently on different machines.
  return timestamp !== undefined && /^\d{4}-\d\d-\d\dT/.test(timestamp)
    ? Date.parse(timestamp)
    : Number.NaN
}

/** Never names a value: it may be secret, and issues are shown and recorded. */
function* findIssues(
  required: Ready | undefined,
  reasoning: Reasoning | undefined,
): Generator<string> {
  if (!required) return
  const { type, id } = required.schema
  if (!reasoning) {
    yield `reasoning_schema is missing; ${id} requires it`
    return
  }
  if (type !== undefined && reasoning.type !== type) yield `type must be ${JSON.stringify(type)}`
  if (required.source)
    for (const [name, { source }] of Object.entries(reasoning.criteria))
      if (source === undefined) yield `${name} has no source`
  const values = Object.entries(reasoning.criteria).map(([name, { value }]) => [name, value])
  const issues = required.json?.safeParse(Object.fromEntries(values)).error?.issues ?? []
  for (const { path, message } of issues) yield `${path.join('.') || 'criteria'}: ${message}`
}

/** The source of a criterion, in a form that the ledger can confirm (R2). */
type Source =
  | { readonly kind: 'ledger'; readonly seq: number; readonly hash: string | undefined }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string; readonly call: string }
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }

const ledgerForm = /^ledger:(\d{1,15})(?:#([0-9a-f]{64}))?$/i
const mcpForm = /^mcp:([^/#]+)\/([^#]+)#([^#]+)$/
const fileForm = /^file:(.+)#(?:sha256[:=-])?([0-9a-f]{64})$/is
const claimsForm = /^(ledger|mcp|file):/i

/** A source in another form is a remark for people, which nothing can check. */
const isCheckable = (source: string): boolean => claimsForm.test(source)

function parseSource(text: string): Source | undefined {
  const [, seq, hash] = ledgerForm.exec(text) ?? []
  if (seq !== undefined) return { kind: 'ledger', seq: Number(seq), hash: hash?.toLowerCase() }
  const [, server, tool, call] = mcpForm.exec(text) ?? []
  if (server !== undefined && tool !== undefined && call !== undefined)
    return { kind: 'mcp', server, tool, call }
  const [, path, sha256] = fileForm.exec(text) ?? []
  return path !== undefined && sha256 !== undefined
    ? { kind: 'file', path, sha256: sha256.toLowerCase() }
    : undefined
}

/**
 * Returns the sources that the ledger does not confirm. The ledger confirms a source if this agent made the call, the
 * call succeeded, it is not older than `since`, and the cited content matches.
 */
async function findUnverifiedSources(
  lookup: EntryLookup,
  reader: Reader,
  by: Caller,
  sources: readonly string[],
  since: number,
  guardedToolsets: readonly string[],
): Promise<string[]> {
  // Tools of cowork have their own names, tools of an upstream `server__name` (U4).
  const ownServers = ['cowork', ...guardedToolsets]
  const checkable = [...new Set(sources)].filter(isCheckable)
  const parsed = checkable.map((text) => ({ text, source: parseSource(text) }))
  const paths = parsed.flatMap(({ source }) => (source?.kind === 'file' ? [source.path] : []))
  const onFiles = await lookup.listRecentOn(reader, by.id, [...new Set(paths)])
  const isOwn = (entry: Entry) =>
    isCompletedCall(entry) && isVisibleTo(by, entry) && entry.at >= since

  async function isConfirmed(source: Source | undefined): Promise<boolean> {
    switch (source?.kind) {
      case 'ledger': {
        const found = await lookup.entry(reader, source.seq)
        if (!found || !isOwn(found.entry)) return false
        return source.hash === undefined || source.hash === found.hash
      }
      case 'mcp': {
        const { server, tool, call } = source
        const name = ownServers.includes(server) ? tool : `${server}__${tool}`
        const entries = await lookup.call(reader, call)
        return entries.some((entry) => isOwn(entry) && entry.data?.['tool'] === name)
      }
      case 'file':
        return onFiles.some(
          (entry) =>
            isOwn(entry) &&
            entry.subject === source.path &&
            entry.data?.['sha256'] === source.sha256,
        )
      case undefined:
        return false
    }
  }

  const failed: string[] = []
  // Sequential: these reads share the transaction of the proposal.
  for (const { text, source } of parsed) if (!(await isConfirmed(source))) failed.push(text)
  return failed
}
