import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Files } from '../service.ts'
import { fileResults } from '../wire.ts'

/** Where agents keep their files, and how much there is. */
export const workspaceTools = (
  files: Files,
  /** Another folder that was chosen since the start, if so. */
  nextWorkspace: () => string | undefined,
): Tool[] => [
  defineTool({
    name: 'get_workspace_info',
    title: 'Workspace',
    description: 'See where the workspace is, how many files it has, and how the disk is guarded.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({}),
    output: fileResults.get_workspace_info,
    touches: () => files.places.touch(''),
    async read(_, call) {
      const next = nextWorkspace()
      const {
        path: at,
        files: count,
        bytes,
        folders,
      } = await files.reading.usage(call, '', 1, ['temp', '.cowork'])
      const of = (name: string) => folders.find((folder) => folder.path === name)
      const own = of('.cowork') ?? { files: 0, bytes: 0 }
      return {
        workspace_path: at,
        total_files: count - own.files,
        total_size_mb: Math.round((bytes - own.bytes) / 10_000) / 100,
        temp_files: of('temp')?.files ?? 0,
        last_cleanup: null,
        containment: files.containment(),
        ...(next !== undefined && { path_after_restart: next }),
      }
    },
  }),
]
