import { RE2JS } from 're2js'
import type * as z from 'zod'
import type { Mode } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Config } from '#base/config/index.ts'
import { compileObjectSchema } from '#base/config/json-schema.ts'
import type { Reader } from '#base/db/port.ts'
import type { Lookup, Entry } from '#ledger'
import type { Policy } from '../rules/policy.ts'
import type { Reasoning } from '../tools/propose.ts'
import { isDone, visibleTo } from '#ledger'

type Schema = Config['reasoning_schemas'][number]

type Criterion = Reasoning['criteria'][string]

export type Assessment = {
  /** Null where no schema asks, and only its sources were looked at. */
  readonly schema_id: string | null
  readonly valid: boolean
  readonly missing: readonly string[]
  readonly stale: readonly string[]
  readonly unverified: readonly string[]
  /** What else is wrong, in words. */
  readonly problems: readonly string[]
}

/** An agent's clock may be ahead of ours by this much. */
const mostAhead = 5 * 60_000

type Ready = { readonly schema: Schema; readonly json?: z.ZodType; readonly source?: RE2JS }

export type Reasonings = ReturnType<typeof createReasonings>

/** Reasoning that can be checked: its shape by a schema, its sources by the ledger (R1, R2). */
export function createReasonings(
  schemas: readonly Schema[],
  lookup: Lookup,
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
  const wantedBy = (policy: Policy | undefined) =>
    policy?.reasoning_schema === undefined ? undefined : ready.get(policy.reasoning_schema)

  return {
    isAsked: (policy: Policy | undefined, given: Reasoning | undefined): boolean =>
      given !== undefined || wantedBy(policy) !== undefined,

    async check(
      reader: Reader,
      { by, policy, given, at }: { by: Caller; at: number } & Given,
    ): Promise<Assessment> {
      const wanted = wantedBy(policy)
      const sources = Object.values(given?.criteria ?? {}).flatMap(({ source }) => source ?? [])
      const maxAge = wanted?.schema.max_age
      const since = maxAge === undefined ? 0 : at - maxAge
      const failed = await findUnverifiedSources(
        lookup,
        reader,
        by,
        sources,
        since,
        guardedToolsets,
      )
      return assessed(wanted, given, failed, at)
    },

    /** The same of what is on record: what the ledger said of its sources then is on record too. */
    again: ({ policy, given, at }: { at: number } & Given, failed: readonly string[]) =>
      assessed(wantedBy(policy), given, failed, at),

    /** As strict as this because of it; undefined where it changes nothing. */
    floorOf(policy: Policy | undefined, { valid }: Assessment): Mode | undefined {
      const wanted = wantedBy(policy)
      if (!wanted || valid || wanted.schema.on_fail === 'warn') return undefined
      return wanted.schema.on_fail
    },
  }
}

type Given = { readonly policy: Policy | undefined; readonly given: Reasoning | undefined }

function assessed(
  wanted: Ready | undefined,
  given: Reasoning | undefined,
  failed: readonly string[],
  at: number,
): Assessment {
  const criteria = given?.criteria ?? {}
  const names = Object.keys(criteria)
  const missing = (wanted?.schema.required ?? []).filter((name) => !isGiven(criteria, name))
  const maxAge = wanted?.schema.max_age
  const stale =
    maxAge === undefined ? [] : names.filter((name) => isStale(criteria[name], maxAge, at))
  const refused = names.flatMap((name) => {
    const source = criteria[name]?.source
    return wanted?.source && source !== undefined && !wanted.source.test(source) ? [source] : []
  })
  const problems = [...problemsOf(wanted, given)]
  const bad = [...new Set([...failed, ...refused])]
  return {
    schema_id: wanted?.schema.id ?? null,
    valid: missing.length + stale.length + bad.length + problems.length === 0,
    missing,
    stale,
    unverified: bad,
    problems,
  }
}

function isGiven(criteria: Reasoning['criteria'], name: string): boolean {
  if (!Object.hasOwn(criteria, name)) return false
  const value = criteria[name]?.value
  return value !== undefined && value !== null
}

/** What has no time has no age, and what is yet to come was not seen. */
function isStale(criterion: Criterion | undefined, maxAge: number, at: number): boolean {
  const time = timeOf(criterion?.timestamp)
  return !(time >= at - maxAge && time <= at + mostAhead)
}

function timeOf(timestamp: string | number | undefined): number {
  if (typeof timestamp === 'number') return timestamp
  // Other forms are read differently from machine to machine.
  return timestamp !== undefined && /^\d{4}-\d\d-\d\dT/.test(timestamp)
    ? Date.parse(timestamp)
    : Number.NaN
}

/** Names no value: it may be secret, and this is shown and recorded. */
function* problemsOf(wanted: Ready | undefined, given: Reasoning | undefined): Generator<string> {
  if (!wanted) return
  const { type, id } = wanted.schema
  if (!given) {
    yield `reasoning_schema is missing; ${id} asks for it`
    return
  }
  if (type !== undefined && given.type !== type) yield `type must be ${JSON.stringify(type)}`
  if (wanted.source)
    for (const [name, { source }] of Object.entries(given.criteria))
      if (source === undefined) yield `${name} has no source`
  const values = Object.entries(given.criteria).map(([name, { value }]) => [name, value])
  const issues = wanted.json?.safeParse(Object.fromEntries(values)).error?.issues ?? []
  for (const { path, message } of issues) yield `${path.join('.') || 'criteria'}: ${message}`
}

/** Where a criterion comes from, in a form that the ledger can confirm (R2). */
type Source =
  | { readonly kind: 'ledger'; readonly seq: number; readonly hash: string | undefined }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string; readonly call: string }
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }

const ledgerForm = /^ledger:(\d{1,15})(?:#([0-9a-f]{64}))?$/i
const mcpForm = /^mcp:([^/#]+)\/([^#]+)#([^#]+)$/
const fileForm = /^file:(.+)#(?:sha256[:=-])?([0-9a-f]{64})$/is
const claimsForm = /^(ledger|mcp|file):/i

/** A source of no such form is a remark for people: nobody can check it, and nobody pretends to. */
const isCheckable = (source: string): boolean => claimsForm.test(source)

function sourceOf(text: string): Source | undefined {
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
 * Those of these sources that the ledger does not confirm: this agent made that call, it was carried out, it
 * is not older than `since`, and what it saw is what is cited.
 */
async function findUnverifiedSources(
  lookup: Lookup,
  reader: Reader,
  by: Caller,
  sources: readonly string[],
  since: number,
  guardedToolsets: readonly string[],
): Promise<string[]> {
  // Tools of cowork go by their own names, those of an upstream by `server__name` (U4).
  const ownServers = ['cowork', ...guardedToolsets]
  const asked = [...new Set(sources)].filter(isCheckable)
  const known = asked.map((text) => ({ text, source: sourceOf(text) }))
  const paths = known.flatMap(({ source }) => (source?.kind === 'file' ? [source.path] : []))
  const onFiles = await lookup.recentOn(reader, by.id, [...new Set(paths)])
  const isOwn = (entry: Entry) => isDone(entry) && visibleTo(by, entry) && entry.at >= since

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
  // One after the other: they are read in the transaction of the proposal.
  for (const { text, source } of known) if (!(await isConfirmed(source))) failed.push(text)
  return failed
}
