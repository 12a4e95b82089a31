import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import type { Tool } from '#base/tool.ts'
import { touchedData } from '#ledger'
import type { Places, Wanted } from './places.ts'

type Input = Readonly<Record<string, unknown>>
type Attempted = { readonly tool: Tool; readonly caller: Caller; readonly input: Input }
type Verdict =
  | { readonly mode: 'act' }
  | {
      readonly mode: 'refuse'
      readonly code: string
      readonly message: string
      readonly hint?: string
      readonly details?: Readonly<Record<string, unknown>>
      /** What the entry says besides. */
      readonly told?: Readonly<Record<string, unknown>>
    }

const reads = ({ path }: Input): Wanted[] => [{ path: String(path), need: 'read' }]
const comesTo = (path: unknown): Wanted => ({ path: String(path), need: 'create', makes: true })

/** Which paths a call wants, and what for. read_files answers path by path instead. */
const wants: Readonly<Record<string, (input: Input) => readonly Wanted[]>> = {
  read_file: reads,
  list_files: reads,
  file_tree: reads,
  file_versions: reads,
  workspace_usage: reads,
  file_diff: ({ path, with: other }) =>
    [path, other].flatMap((one) => (typeof one === 'string' ? reads({ path: one }) : [])),
  create_file: ({ path, overwrite }) => [
    { path: String(path), need: overwrite === true ? 'write' : 'create', makes: true },
  ],
  update_file: ({ path }) => [{ path: String(path), need: 'write' }],
  file_restore_version: ({ path }) => [{ path: String(path), need: 'write', makes: true }],
  delete_file: ({ path }) => [{ path: String(path), need: 'delete' }],
  move_file: ({ source, destination }) => [
    { path: String(source), need: 'write' },
    comesTo(destination),
  ],
  copy_file: ({ source, destination }) => [...reads({ path: source }), comesTo(destination)],
  trash_restore: ({ destination }) => (destination === undefined ? [] : [comesTo(destination)]),
}

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
        const files = wanted.map((other) => ({
          ...places.named(other.path),
          ...(other === one && { code }),
        }))
        const told = files.length > 1 ? { told: touchedData(files) } : {}
        return { mode: 'refuse', code, message, ...(hint && { hint }), details, ...told }
      }
    return { mode: 'act' }
  }
