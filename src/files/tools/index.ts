import type { Tool } from '#base/tool.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import { grantTools } from '../grants/tools.ts'
import type { GrantToolDeps } from '../grants/tools.ts'
import type { Files } from '../service.ts'
import { resolveDestination } from '../rules/paths.ts'
import { findTools } from './find.ts'
import { historyTools } from './history.ts'
import { readTools } from './read.ts'
import { setupTools } from './setup.ts'
import type { SetupDeps } from './setup.ts'
import { writeTools } from './write.ts'

type FileToolDeps = {
  readonly files: Files
  readonly grants: GrantToolDeps
  readonly setup: SetupDeps
  readonly nextWorkspace: () => string | undefined
}

export const fileTools = ({ files, grants, setup, nextWorkspace }: FileToolDeps): Tool[] => [
  ...[
    ...readTools(files),
    ...findTools(files, nextWorkspace),
    ...writeTools(files),
    ...historyTools(files),
  ].map((tool) => withTargets(tool, files)),
  ...grantTools(grants),
  ...setupTools(setup),
]

type Input = Readonly<Record<string, unknown>>
type Places = Pick<Files['places'], 'locate'>

/** Binds approvals of a file tool to the files themselves: to their paths however written, and to their state (A15). */
function withTargets(tool: Tool, { places, stateOf }: Pick<Files, 'places' | 'stateOf'>): Tool {
  const { paths } = tool
  return {
    ...tool,
    canonicalInput: (input) => canonicalPaths(places, { ...input, ...arrivalIn(input) }),
    ...(tool.effect !== 'read' &&
      paths && {
        fingerprint: async (input: Input, caller: Caller) => {
          const states = await Promise.all(paths(input).map(({ path }) => stateOf(caller, path)))
          return states.length > 0 ? Object.fromEntries(states) : undefined
        },
      }),
  }
}

const arrivalIn = ({ source, destination }: Input) =>
  typeof source === 'string' && typeof destination === 'string'
    ? { destination: resolveDestination(destination, source) }
    : {}

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
