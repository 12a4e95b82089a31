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
type Resolver = Pick<Files['resolver'], 'locate'>

/** Binds approvals of a file tool to canonical paths and to the state of the files (A15). */
function withTargets(
  tool: Tool,
  { resolver, getTargetState }: Pick<Files, 'resolver' | 'getTargetState'>,
): Tool {
  const { paths } = tool
  return {
    ...tool,
    canonicalInput: (input) =>
      canonicalPaths(resolver, { ...input, ...resolveFullDestination(input) }),
    ...(tool.effect !== 'read' &&
      paths && {
        fingerprint: async (input: Input, caller: Caller) => {
          const states = await Promise.all(
            paths(input).map(({ path }) => getTargetState(caller, path)),
          )
          return states.length > 0 ? Object.fromEntries(states) : undefined
        },
      }),
  }
}

const resolveFullDestination = ({ source, destination }: Input) =>
  typeof source === 'string' && typeof destination === 'string'
    ? { destination: resolveDestination(destination, source) }
    : {}

const pathArguments = ['path', 'source', 'destination', 'with']

function canonicalPaths(resolver: Resolver, input: Input): Record<string, unknown> {
  const { paths } = input
  const changed = pathArguments.flatMap((name) => {
    const path = input[name]
    return typeof path === 'string' ? [[name, canonicalPath(resolver, path)] as const] : []
  })
  return {
    ...input,
    ...Object.fromEntries(changed),
    ...(Array.isArray(paths) && {
      paths: paths.map((path) => canonicalPath(resolver, String(path))),
    }),
  }
}

/** Returns the canonical form of a path. Keeps a trailing slash, because it stands for a folder. */
function canonicalPath(resolver: Resolver, given: string): string {
  try {
    const { path } = resolver.locate(given)
    return given.endsWith('/') && !path.endsWith('/') ? `${path}/` : path
  } catch (error) {
    // The call itself refuses the path.
    if (error instanceof CoworkError) return given
    throw error
  }
}
