import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import type { Tool } from '#base/tool.ts'
import { destinationOf } from '../rules/paths.ts'
import type { Files } from '../service.ts'

type Input = Readonly<Record<string, unknown>>
type Places = Pick<Files['places'], 'locate'>

/** The paths that each tool changes, moves or takes the content of. */
const targets: Readonly<Record<string, (input: Input) => readonly unknown[]>> = {
  create_file: ({ path }) => [path],
  update_file: ({ path }) => [path],
  delete_file: ({ path }) => [path],
  move_file: (input) => [input['source'], arrivalOf(input)],
  copy_file: (input) => [input['source'], arrivalOf(input)],
  file_restore_version: ({ path }) => [path],
  trash_restore: ({ destination }) => [destination],
}

const moving = new Set(['move_file', 'copy_file'])

const arrivalOf = ({ source, destination }: Input) =>
  destinationOf(String(destination), String(source))

/** Binds approvals of a file tool to the files themselves: to their paths however written, and to their state (A15). */
export function withTargets(
  tool: Tool,
  { places, stateOf }: Pick<Files, 'places' | 'stateOf'>,
): Tool {
  const targetsOf = targets[tool.name]
  return {
    ...tool,
    canonicalInput: (input) =>
      canonicalPaths(
        places,
        moving.has(tool.name) ? { ...input, destination: arrivalOf(input) } : input,
      ),
    ...(targetsOf && {
      fingerprint: async (input: Input, caller: Caller) => {
        const paths = targetsOf(input).filter((path) => typeof path === 'string')
        const states = await Promise.all(paths.map((path) => stateOf(caller, path)))
        return states.length > 0 ? Object.fromEntries(states) : undefined
      },
    }),
  }
}

const pathArguments = ['path', 'source', 'destination', 'with']

function canonicalPaths(places: Places, input: Input): Record<string, unknown> {
  const { paths } = input
  const changed = pathArguments.flatMap((name) => {
    const path = input[name]
    return typeof path === 'string' ? [[name, canonicalPath(places, path)] as const] : []
  })
  return {
    ...input,
    ...Object.fromEntries(changed),
    ...(Array.isArray(paths) && {
      paths: paths.map((path) => canonicalPath(places, String(path))),
    }),
  }
}

/** One form of every path that leads to the same name. A slash at the end is kept: it asks for a folder. */
function canonicalPath(places: Places, given: string): string {
  try {
    const { path } = places.locate(given)
    return given.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
  } catch (error) {
    // The call is refused for it.
    if (error instanceof CoworkError) return given
    throw error
  }
}
