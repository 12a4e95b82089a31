import { readFileSync } from 'node:fs'
import { CoworkError, messageOf } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain, plainLines } from './plain.ts'
import { byPrefix } from './prefix.ts'

type Version = {
  version: string
  number: number
  source: 'file' | 'saved'
  by: string
  note: string
  at: string
}

type Versions = { active: string; versions: Version[]; text?: string }

const mostVersions = 200

const read = (client: Client, asked: object = {}) =>
  client.call<Versions>('cowork_policy_versions', { limit: mostVersions, ...asked })

/** The policies there ever were, newest first; or what one of them says, as YAML (Y6). */
export async function policyVersions(context: Context, given: string | undefined): Promise<void> {
  const client = createClient(context)
  const listed = await read(client)
  if (given !== undefined) {
    const said = await read(client, { version: named(listed, given) })
    return context.out.data(said, () => plainLines(said.text?.trimEnd() ?? ''))
  }
  const head = ['VERSION', 'NO', 'SINCE', 'BY', 'FROM', 'STATE', 'NOTE']
  const rows = listed.versions.map((one) => [
    one.version,
    one.number,
    one.at.slice(0, 16).replace('T', ' '),
    plain(one.by),
    one.source === 'file' ? 'cowork.yaml' : 'saved',
    // The same again has the same name: only the newest of them is in force.
    one === listed.versions[0] ? 'in force' : '',
    plain(one.note),
  ])
  context.out.data(listed, () => table(head, rows))
}

/** The version that is meant, for whoever has not listed them. */
export const versionNamed = async (client: Client, given: string): Promise<string> =>
  named(await read(client), given)

/** By its beginning, its number or `active`. */
function named({ active, versions }: Versions, given: string): string {
  if (given === 'active') return active
  const numbered = versions.find(({ number }) => String(number) === given)
  const names = [...new Set(versions.map(({ version }) => version))]
  return numbered?.version ?? byPrefix(given, names, 'version')
}

export type DiffFlags = { readonly file?: string }

/** What differs between two versions, or from a file. */
export async function policyDiff(
  context: Context,
  [from = '', to]: readonly string[],
  { file }: DiffFlags,
): Promise<void> {
  if ((to === undefined) === (file === undefined))
    throw usage(
      'Compare with another version or with --file, one of them.',
      '`cowork policy diff 1 active` shows what changed since the first.',
    )
  const client = createClient(context)
  const listed = await read(client)
  const found = await client.call<{ changed: boolean; diff: string }>('cowork_policy_diff', {
    from: named(listed, from),
    ...(to !== undefined && { to: named(listed, to) }),
    ...(file !== undefined && { body: bodyIn(file) }),
  })
  context.out.data(found, () => (found.changed ? plainLines(found.diff) : ['Nothing differs.']))
}

/** The text as it stands there: the daemon judges it by the words of cowork.yaml, also where it is JSON. */
export function bodyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usage(`Cannot read ${file}: ${messageOf(cause)}.`, 'Check the path given with --file.')
  }
}

export type SaveFlags = {
  readonly file: string
  readonly note: string
  readonly from?: string
  readonly confirm?: boolean
}

type Saved = { version: string; from: string; changed: boolean; message: string }

/** Puts a file in force, after saying what it would have changed (Y6). */
export async function savePolicies(
  context: Context,
  { file, note, from, confirm = false }: SaveFlags,
): Promise<void> {
  requirePersonHere(context, 'Saving policies')
  const body = bodyIn(file)
  const client = createClient(context)
  const base = from === undefined ? {} : { from: await versionNamed(client, from) }
  const { summary } = await client.call<{ summary: string }>('cowork_simulate_policy', { body })
  context.out.note(`On what agents did in the last 30 days: ${summary}.`)
  const asked = { body, note, confirm, ...base }
  const saved = await client.call<Saved>('cowork_save_policies', asked).catch(inOurWords)
  context.out.data(saved, () => [plain(saved.message)])
  if (saved.changed)
    context.out.note(`\`cowork policy diff ${saved.from} ${saved.version}\` shows what changed.`)
}

function inOurWords(error: unknown): never {
  if (!(error instanceof CoworkError) || error.code !== 'would_lock_out') throw error
  throw new CoworkError(error.code, error.message, {
    hint: 'Map them to a policy, or add --confirm if that is what you want. Nothing was saved.',
  })
}
