import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import type { ErrorCode } from '#base/errors.ts'
import type { Tool } from '#base/tool.ts'
import { touchedData } from '#ledger'
import { isOwner } from './grants/lend.ts'
import type { Grants } from './grants/service.ts'
import type { Places, Wanted } from './places.ts'
import { destinationOf } from './rules/paths.ts'

type Input = Readonly<Record<string, unknown>>
type Attempted = { readonly tool: Tool; readonly caller: Caller; readonly input: Input }
type Verdict =
  | { readonly mode: 'act' }
  | {
      readonly mode: 'refuse'
      readonly code: ErrorCode
      readonly message: string
      readonly hint?: string
      readonly details?: Readonly<Record<string, unknown>>
      /** What the entry says besides. */
      readonly told?: Readonly<Record<string, unknown>>
    }

const reads = ({ path }: Input): Wanted[] => [{ path: String(path), need: 'read' }]
const comesTo = (path: unknown, from: unknown): Wanted => ({
  path: destinationOf(String(path), String(from)),
  need: 'create',
  makes: true,
})

/** Which paths a call wants, and what for. read_files answers path by path instead. */
const wants: Readonly<Record<string, (input: Input) => readonly Wanted[]>> = {
  read_file: reads,
  list_files: reads,
  file_tree: reads,
  file_versions: reads,
  workspace_usage: reads,
  search_files: ({ path }) => (path === undefined ? [] : reads({ path })),
  file_diff: ({ path, with: other }) =>
    [path, other].flatMap((one) => (typeof one === 'string' ? reads({ path: one }) : [])),
  create_file: ({ path, overwrite }) => [
    { path: String(path), need: overwrite === true ? 'write' : 'create', makes: true },
  ],
  update_file: ({ path }) => [{ path: String(path), need: 'write' }],
  file_restore_version: ({ path }) => [{ path: String(path), need: 'write' }],
  delete_file: ({ path }) => [{ path: String(path), need: 'delete' }],
  move_file: ({ source, destination }) => [
    { path: String(source), need: 'write' },
    comesTo(destination, source),
  ],
  copy_file: ({ source, destination }) => [
    ...reads({ path: source }),
    comesTo(destination, source),
  ],
  // Whether it is made there, or only comes back, is known when it is looked up.
  trash_restore: ({ destination }) =>
    typeof destination === 'string' ? [{ path: destination, need: 'create' }] : [],
}

/** What is kept is the owner's, whatever is granted by now (TR3). */
const undoing = new Set(['file_versions', 'file_diff', 'file_restore_version'])
const isAboutGrants = (code: string) => code === 'no_grant' || code === 'read_only_grant'

/** Paths, grants and what no grant lifts, before a person is asked about a call that could not run anyway. */
export const checkFiles =
  (places: Pick<Places, 'place' | 'named'>) =>
  async ({ tool, caller, input }: Attempted): Promise<Verdict> => {
    const wanted = (tool.toolset === 'files' && wants[tool.name]?.(input)) || []
    for (const one of wanted)
      try {
        await places.place(caller, one)
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        const { code, message, hint, details } = error
        if (undoing.has(tool.name) && isOwner(caller) && isAboutGrants(code)) continue
        const files = wanted.map((other) => ({
          ...places.named(other.path),
          ...(other === one && { code }),
        }))
        const told = files.length > 1 ? { told: touchedData(files) } : {}
        return { mode: 'refuse', code, message, ...(hint && { hint }), details, ...told }
      }
    return { mode: 'act' }
  }

/** What was asked for may be another by now (PV9): looked at here, where nobody waits for it. */
export const lookBefore =
  (grants: Pick<Grants, 'look'>) =>
  async ({ tool, input }: Pick<Attempted, 'tool' | 'input'>): Promise<Verdict> => {
    const ids = tool.approves?.(input) ?? []
    if (ids !== 'unknown' && ids.length > 0) await grants.look(ids)
    return { mode: 'act' }
  }
