import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { toTouchedData } from '#ledger'
import type { Files } from '../service.ts'
import {
  cursor,
  path,
  reads,
  sensitiveWarning,
  escapeName,
  truncateDiff,
  formatTime,
  writes,
} from './shared-schemas.ts'
import { fileResults } from '../wire.ts'

const pageSize = 100

export const historyTools = (files: Files): Tool[] => {
  const { resolver, history, versions, trash } = files
  return [
    defineTool({
      ...reads,
      name: 'file_versions',
      title: 'File versions',
      description: 'List the versions of a file, newest first, to compare or restore one.',
      input: z.strictObject({ path }),
      output: fileResults.file_versions,
      describeTarget: (input) => resolver.toTarget(input.path),
      paths: (input) => [{ path: input.path, need: 'read', ownerNeedsNoGrant: true }],
      async read(input, call) {
        const { path: at, versions: kept } = await versions.list(call, input.path)
        return {
          path: at,
          versions: kept.map((one) => ({
            version_id: one.id,
            size_bytes: one.size,
            replaced_at: formatTime(one.at),
            replaced_by: one.by,
            operation: one.operation,
          })),
        }
      },
    }),
    defineTool({
      ...reads,
      name: 'file_diff',
      title: 'Compare a file',
      description:
        'Show the diff between a file and a version (default: the newest) or another file.',
      input: z.strictObject({
        path,
        version_id: z.string().optional(),
        with: z.string().optional().describe('Path of another file'),
      }),
      output: fileResults.file_diff,
      describeTarget: (input) =>
        resolver.toTarget(input.path, ...(input.with === undefined ? [] : [input.with])),
      paths: (input) =>
        [input.path, ...(input.with === undefined ? [] : [input.with])].map((one) => ({
          path: one,
          need: 'read',
          ownerNeedsNoGrant: true,
        })),
      async read({ path: given, version_id, with: other }, call) {
        const compared = await versions.diff(call, given, { version: version_id, path: other })
        return {
          path: compared.path,
          diff: truncateDiff(compared.diff),
          ...(compared.sensitive && { warnings: [sensitiveWarning(call.caller)] }),
        }
      },
      textOnly: true,
      text: ({ path: at, diff, warnings = [] }) =>
        [
          diff === '' ? `${escapeName(at)}: no differences.` : diff,
          ...warnings.map((warning) => `[${warning}]`),
        ].join('\n'),
    }),
    defineTool({
      ...writes,
      name: 'file_restore_version',
      title: 'Restore a version',
      description: 'Restore a version of a file; the current content is kept as a version.',
      idempotent: true,
      input: z.strictObject({ path, version_id: z.string() }),
      output: fileResults.file_restore_version,
      describeTarget: (input) => resolver.toTarget(input.path),
      paths: (input) => [{ path: input.path, need: 'write', ownerNeedsNoGrant: true }],
      isRisky: (input) => resolver.describeRisk(input.path),
      async run({ path: given, version_id }, call) {
        const { path: at, stat, before } = await versions.restore(call, given, version_id)
        return {
          output: {
            success: true as const,
            path: at,
            restored_at: formatTime(stat.modifiedAt),
            size_bytes: stat.size,
          },
          finalize: history.recordChange(call, {
            operation: 'file_restore_version',
            made: at,
            replaced: before && { path: at, before },
          }),
        }
      },
    }),
    defineTool({
      ...reads,
      name: 'trash_list',
      title: 'Trash',
      description: 'List deleted files that can be restored, newest first.',
      input: z.strictObject({ cursor }),
      output: fileResults.trash_list,
      describeTarget: () => resolver.toTarget(''),
      async read({ cursor: after }) {
        const { items, next } = await trash.list(after, pageSize)
        return {
          items: items.map((item) => ({
            trash_id: item.id,
            path: item.path,
            type: item.type === 'folder' ? 'directory' : item.type,
            size_bytes: item.size,
            deleted_at: formatTime(item.deletedAt),
            deleted_by: item.by,
            expires_at: formatTime(trash.expiresAt(item)),
          })),
          ...(next !== undefined && { next_cursor: next }),
        }
      },
    }),
    defineTool({
      ...writes,
      name: 'trash_restore',
      title: 'Restore from the trash',
      description: 'Restore a deleted file or folder. Never replaces a file.',
      additive: true,
      input: z.strictObject({
        trash_id: z.string(),
        destination: z.string().optional().describe('Default: the original path'),
      }),
      output: fileResults.trash_restore,
      describeTarget: ({ trash_id, destination }) =>
        destination === undefined
          ? { domain: 'files', target: trash_id, data: { area: 'workspace' } }
          : resolver.toTarget(destination),
      // The lookup decides whether the restore creates a new name (`makes`).
      paths: ({ destination }) =>
        destination === undefined ? [] : [{ path: destination, need: 'create' }],
      isRisky: ({ destination }) => destination !== undefined && resolver.describeRisk(destination),
      async run({ trash_id, destination }, call) {
        const { path: at, stat } = await trash.restore(call, trash_id, destination)
        return {
          output: { success: true as const, restored_path: at },
          finalize: history.recordChange(call, {
            operation: 'trash_restore',
            restored: { id: trash_id, path: at },
            ...(stat.type === 'file' && { made: at }),
          }),
        }
      },
    }),
    defineTool({
      name: 'trash_purge',
      title: 'Empty the trash',
      description: 'Delete trash items permanently: the listed ones, or all.',
      toolset: 'files',
      effect: 'destructive',
      by: 'human',
      role: 'owner',
      input: z.strictObject({
        trash_ids: z.array(z.string()).min(1).max(1000).optional(),
        all: z.boolean().default(false),
      }),
      output: fileResults.trash_purge,
      describeTarget: () => resolver.toTarget(''),
      async run({ trash_ids = [], all }, call) {
        const { purged, left } = await trash.purge(call, all ? 'all' : trash_ids)
        const ids = purged.map(({ id }) => id)
        const gone = purged.map(({ path: at, size }) => ({ path: at, size_bytes: size }))
        call.addDetails({ data: toTouchedData(gone) })
        const some = left.length > 0 && { left_in: [...left] }
        return {
          output: { purged: ids, count: ids.length, ...some },
          finalize: history.recordChange(call, { operation: 'trash_purge', purged: ids }),
        }
      },
    }),
  ]
}
