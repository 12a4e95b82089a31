import type { Tool } from '#base/tool.ts'
import { grantTools } from '../grants/tools.ts'
import type { GrantToolDeps } from '../grants/tools.ts'
import type { Files } from '../service.ts'
import { findTools } from './find.ts'
import { historyTools } from './history.ts'
import { readTools } from './read.ts'
import { setupTools } from './setup.ts'
import type { SetupDeps } from './setup.ts'
import { withTargets } from './targets.ts'
import { workspaceTools } from './workspace.ts'
import { writeTools } from './write.ts'

export type FileToolDeps = {
  readonly files: Files
  readonly grants: GrantToolDeps
  readonly setup: SetupDeps
  /** Another workspace that was chosen since the start, if so. */
  readonly nextWorkspace: () => string | undefined
}

/** What agents and people do with files, and how agents come to them. */
export const fileTools = ({ files, grants, setup, nextWorkspace }: FileToolDeps): Tool[] => [
  ...[
    ...readTools(files),
    ...findTools(files),
    ...workspaceTools(files, nextWorkspace),
    ...writeTools(files),
    ...historyTools(files),
  ].map((tool) => withTargets(tool, files)),
  ...grantTools(grants),
  ...setupTools(setup),
]
