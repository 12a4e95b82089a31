import { toActor } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { createPolicies } from '../rules/policy.ts'
import type { Policies } from '../rules/policy.ts'
import { validatePolicyDocument, hashPolicyDocument } from './policy-document.ts'
import type { PolicyDocument } from './policy-document.ts'
import { createVersionStore } from './version-store.ts'
import type { VersionRow } from './version-store.ts'

type Deps = {
  readonly db: Db
  readonly config: Pick<Config, 'policies' | 'mappings' | 'authority' | 'reasoning_schemas'>
  readonly now: Clock
}

/** A version without its content. */
export type Version = Omit<VersionRow, 'body' | 'file'>

type ActiveVersion =
  | { readonly number: number; readonly policies: Policies }
  | { readonly number: number; readonly version: string; readonly error: CoworkError }

/**
 * Holds the active policies and all earlier versions (Y6). Versions come from cowork.yaml and from people; the newest
 * wins. Other daemons of the same store learn of a new version through the ledger.
 */
export function createVersions({ db, config, now }: Deps) {
  const store = createVersionStore(db.dialect)
  const { policies, mappings, authority } = config
  const file: PolicyDocument = { policies, mappings }
  const fileDigest = hashPolicyDocument(file)
  const reasoningIds = config.reasoning_schemas.map(({ id }) => id)

  let active: ActiveVersion = { number: -1, policies: buildPolicies(file) }

  function buildPolicies(body: PolicyDocument): Policies {
    return createPolicies({ ...body, authority })
  }
  const parseDocument = (row: Pick<VersionRow, 'body'>) =>
    validatePolicyDocument(JSON.parse(row.body), reasoningIds)

  /** Activates only newer versions: a late one is superseded already. */
  function activate(row: VersionRow | undefined): void {
    if (!row || row.number <= active.number) return
    try {
      active = { number: row.number, policies: buildPolicies(parseDocument(row)) }
    } catch (error) {
      // An unreadable policy forbids everything (A11).
      active = { number: row.number, version: row.version, error: unreadableError(row, error) }
    }
  }

  async function add(
    tx: Tx,
    newest: VersionRow | undefined,
    body: PolicyDocument,
    origin: { type: string; source: string; by: Actor; note: string; call?: string },
  ): Promise<VersionRow | undefined> {
    const { type, source, by, note, call } = origin
    const { version } = buildPolicies(body)
    const row: VersionRow = {
      number: newest ? newest.number + 1 : 0,
      version,
      source,
      by: by.id,
      note,
      at: now(),
      body: JSON.stringify(body),
      file: fileDigest,
    }
    if (!(await store.add(tx, row))) return store.newest(tx)
    tx.append({
      type,
      actor: by,
      subject: version,
      ...(call !== undefined && { ids: { call } }),
      data: {
        version,
        number: row.number,
        from: newest?.version ?? null,
        note,
        digest: hashPolicyDocument(body),
        policies: body.policies.length,
        mappings: body.mappings.length,
      },
    })
    return row
  }

  /** Activates the file if it changed since the last start, otherwise the newest version. */
  async function start(): Promise<void> {
    const row = await db.transact(async (tx) => {
      const newest = await store.lockNewest(tx)
      const unchanged = newest?.file === fileDigest ? newest : undefined
      const body = unchanged ? readIfPossible(unchanged) : file
      if (unchanged && (!body || unchanged.version === buildPolicies(body).version))
        return unchanged
      return add(tx, newest, body ?? file, {
        type: 'policy.loaded',
        source: 'file',
        by: systemActor,
        note: 'cowork.yaml',
      })
    })
    activate(row)
  }

  /** An unreadable version stays active and forbids everything until a person saves another. */
  function readIfPossible(row: VersionRow): PolicyDocument | undefined {
    try {
      return parseDocument(row)
    } catch {
      return undefined
    }
  }

  return {
    /** Returns the active policies. Call it once for each decision: the next call may return others. */
    policies(): Policies {
      if ('error' in active) throw active.error
      return active.policies
    },
    /** Returns the name of the active version, even if the version is unreadable. */
    version: (): string => ('error' in active ? active.version : active.policies.version),
    start,
    refresh: async () => activate(await store.newest(db)),
    /** Builds the policies of a document without activating them. */
    buildPolicies,
    reasoningIds,

    /** Saves and activates a version, here and in every daemon. `from` is its base version. */
    async save(
      body: PolicyDocument,
      { note, from }: { note: string; from?: string | undefined },
      call: Call,
    ): Promise<{ version: Version; from: string; isNew: boolean }> {
      if (active.number < 0) await start()
      const saved = await db.transact(async (tx) => {
        const newest = await store.lockNewest(tx)
        if (from !== undefined && newest && newest.version !== from)
          throw policyChangedError(newest)
        if (newest?.version === buildPolicies(body).version) return { row: newest, newest }
        const by = toActor(call.caller)
        const row = await add(tx, newest, body, {
          type: 'policy.saved',
          source: 'saved',
          by,
          note,
          call: call.id,
        })
        return { row, newest }
      })
      activate(saved.row)
      const { row, newest } = saved
      if (!row) throw new Error('the saved policy version was not found')
      return { version: toVersion(row), from: newest?.version ?? '', isNew: row !== newest }
    },

    list: (limit: number): Promise<Version[]> => store.page(db, limit),
    /** Returns a version and its content, if readable; the active version by default. */
    async find(
      version?: string,
    ): Promise<{ version: Version; body: PolicyDocument | undefined } | undefined> {
      const row = await (version === undefined ? store.newest(db) : store.find(db, version))
      return row && { version: toVersion(row), body: readIfPossible(row) }
    },
  }
}

function toVersion(row: VersionRow): Version {
  const { body: _, file: __, ...version } = row
  return version
}

const unreadableError = ({ number, version }: VersionRow, cause: unknown) =>
  new CoworkError(
    'policy_unreadable',
    `Cannot read policy version ${version} (number ${number}): ${errorMessage(cause)}`,
    {
      hint: 'Save another version in the console, or change cowork.yaml and restart. Until then everything is blocked.',
      cause,
    },
  )

const policyChangedError = ({ version, by }: VersionRow) =>
  new CoworkError('policy_changed', `The policies changed: ${by} saved version ${version}.`, {
    hint: 'Review the change and save again on top of it.',
    details: { version },
  })
