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

/** A version as people read it, without what it says. */
export type Version = Omit<VersionRow, 'body' | 'file'>

type InForce =
  | { readonly number: number; readonly policies: Policies }
  | { readonly number: number; readonly version: string; readonly fault: CoworkError }

/**
 * The policies in force, and all that ever were (Y6). They come from cowork.yaml and from what people save; the
 * newest wins. Other daemons of the same store hear of a new one through the ledger.
 */
export function createVersions({ db, config, now }: Deps) {
  const store = createVersionStore(db.dialect)
  const { policies, mappings, authority } = config
  const file: PolicyDocument = { policies, mappings }
  const fileDigest = hashPolicyDocument(file)
  const reasoningIds = config.reasoning_schemas.map(({ id }) => id)

  let inForce: InForce = { number: -1, policies: setOf(file) }

  function setOf(body: PolicyDocument): Policies {
    return createPolicies({ ...body, authority })
  }
  const bodyOf = (row: Pick<VersionRow, 'body'>) =>
    validatePolicyDocument(JSON.parse(row.body), reasoningIds)

  /** Goes forward only: what comes late has been overtaken. */
  function enforce(row: VersionRow | undefined): void {
    if (!row || row.number <= inForce.number) return
    try {
      inForce = { number: row.number, policies: setOf(bodyOf(row)) }
    } catch (error) {
      // A policy that cannot be read forbids everything (A11).
      inForce = { number: row.number, version: row.version, fault: unreadable(row, error) }
    }
  }

  async function add(
    tx: Tx,
    newest: VersionRow | undefined,
    body: PolicyDocument,
    made: { type: string; source: string; by: Actor; note: string; call?: string },
  ): Promise<VersionRow | undefined> {
    const { type, source, by, note, call } = made
    const { version } = setOf(body)
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

  /** What the file says now, where it says something else than last time; else what was saved since. */
  async function start(): Promise<void> {
    const row = await db.transact(async (tx) => {
      const newest = await store.lockNewest(tx)
      const kept = newest?.file === fileDigest ? newest : undefined
      const body = kept ? readIfPossible(kept) : file
      if (kept && (!body || kept.version === setOf(body).version)) return kept
      return add(tx, newest, body ?? file, {
        type: 'policy.loaded',
        source: 'file',
        by: systemActor,
        note: 'cowork.yaml',
      })
    })
    enforce(row)
  }

  /** One that cannot be read stays in force, and forbids everything until a person saves another. */
  function readIfPossible(row: VersionRow): PolicyDocument | undefined {
    try {
      return bodyOf(row)
    } catch {
      return undefined
    }
  }

  return {
    /** Those in force now. Ask once for each decision: the next answer may be another. */
    policies(): Policies {
      if ('fault' in inForce) throw inForce.fault
      return inForce.policies
    },
    /** Its name alone, also of one that cannot be read. */
    version: (): string => ('fault' in inForce ? inForce.version : inForce.policies.version),
    start,
    refresh: async () => enforce(await store.newest(db)),
    /** What a body would be, were it in force. */
    setOf,
    reasoningIds,

    /** In force from here on, here and in every daemon. `from` is the version it was made of. */
    async save(
      body: PolicyDocument,
      { note, from }: { note: string; from?: string | undefined },
      call: Call,
    ): Promise<{ version: Version; from: string; isNew: boolean }> {
      if (inForce.number < 0) await start()
      const saved = await db.transact(async (tx) => {
        const newest = await store.lockNewest(tx)
        if (from !== undefined && newest && newest.version !== from) throw overtaken(newest)
        if (newest?.version === setOf(body).version) return { row: newest, newest }
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
      enforce(saved.row)
      const { row, newest } = saved
      if (!row) throw new Error('a version was saved and is not there')
      return { version: shown(row), from: newest?.version ?? '', isNew: row !== newest }
    },

    list: (limit: number): Promise<Version[]> => store.page(db, limit),
    /** What a version says, where it can be read; of the one in force where none is named. */
    async find(
      version?: string,
    ): Promise<{ version: Version; body: PolicyDocument | undefined } | undefined> {
      const row = await (version === undefined ? store.newest(db) : store.find(db, version))
      return row && { version: shown(row), body: readIfPossible(row) }
    },
  }
}

function shown(row: VersionRow): Version {
  const { body: _, file: __, ...version } = row
  return version
}

const unreadable = ({ number, version }: VersionRow, cause: unknown) =>
  new CoworkError(
    'policy_unreadable',
    `Version ${version} of the policies (number ${number}) cannot be read: ${errorMessage(cause)}`,
    {
      hint: 'Nothing is allowed under it. Save another in the console, or change the policies in cowork.yaml and start again.',
      cause,
    },
  )

const overtaken = ({ version, by }: VersionRow) =>
  new CoworkError('policy_changed', `${by} saved version ${version} meanwhile.`, {
    hint: 'Look at what changed, and save again on top of it.',
    details: { version },
  })
