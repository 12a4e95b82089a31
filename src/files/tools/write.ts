import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { sha256HexInChunks } from '#base/hash.ts'
import { toSafeJson } from '#base/sanitize.ts'
import { defineTool } from '#base/tool.ts'
import type { PathRequest, Tool } from '#base/tool.ts'
import type { Files } from '../service.ts'
import { resolveDestination } from '../rules/paths.ts'
import { path, escapeName, truncateDiff, formatTime, writes } from './shared-schemas.ts'
import { fileResults } from '../wire.ts'

/** Longer diffs are omitted from the text: the model knows its own change. */
const maxInlineDiffLength = 2000

/** A grant of a single file does not allow new files in its folder. */
const noBackupWarning =
  'No backup: the grant covers only the file. The previous content is in file_versions.'

export const writeTools = (files: Files): Tool[] => {
  const { resolver, history, writer, trash } = files
  const toWarnings = (at: string, ...others: readonly string[]) => {
    const warnings = [...(resolver.isSensitive(at) ? ['Sensitive file name.'] : []), ...others]
    return warnings.length > 0 ? { warnings } : {}
  }

  return [
    defineTool({
      ...writes,
      name: 'create_file',
      title: 'Create a file',
      description:
        'Write a new file and its parent folders. To change a file use update_file; overwrite replaces an existing file.',
      core: true,
      input: z.strictObject({
        path,
        content: z.string(),
        overwrite: z.boolean().default(false),
        encoding: z.string().default('utf-8').describe('`base64` for bytes'),
      }),
      output: fileResults.create_file,
      large: true,
      describeTarget: (input) => resolver.toTarget(input.path),
      paths: (input) => [
        { path: input.path, need: input.overwrite ? 'write' : 'create', createsFile: true },
      ],
      isRisky: (input) => resolver.describeRisk(input.path),
      toPayload: async (input) => ({
        ...input,
        content: await hashContent(decodeContent(input) ?? Buffer.from(input.content)),
      }),
      startsBeforeRecord: true,
      async run(input, call) {
        const { path: given, overwrite, encoding } = input
        const content = decodeContent(input)
        if (!content)
          throw new CoworkError('invalid_input', 'The content is not base64.', {
            hint: 'Omit encoding to write text.',
          })
        const written = await writer.create(call, {
          path: given,
          content,
          overwrite,
          encoding: encoding === 'base64' ? 'binary' : encoding,
        })
        const { path: at, stat, before } = written
        return {
          output: {
            success: true as const,
            full_path: at,
            created_at: formatTime(stat.modifiedAt),
            size_bytes: stat.size,
            ...toWarnings(at),
          },
          finalize: history.recordChange(call, {
            operation: 'create_file',
            made: at,
            replaced: before && { path: at, before },
          }),
        }
      },
      text: ({ full_path, size_bytes, warnings }) =>
        withWarnings(
          `Wrote ${escapeName(full_path)} (${size_bytes} ${size_bytes === 1 ? 'byte' : 'bytes'}).`,
          warnings,
        ),
    }),
    defineTool({
      ...writes,
      name: 'update_file',
      title: 'Change a file',
      description:
        'Change a file: edits replace text that occurs once, content replaces the file. A version is kept. dry_run only returns the diff.',
      core: true,
      example: { path: 'notes.txt', edits: [{ old: 'old text', new: 'new text' }] },
      input: z.strictObject({
        path,
        content: z.string().optional(),
        edits: z
          .array(z.strictObject({ old: z.string(), new: z.string() }))
          .min(1)
          .max(1000)
          .optional(),
        create_backup: z.boolean().default(true).describe('Also keep a .bak file'),
        dry_run: z.boolean().default(false),
        expected_sha256: z
          .string()
          .regex(/^[0-9a-f]{12,64}$/i, 'must be the first 12 to 64 digits of a SHA-256')
          .optional()
          .describe('From read_file; fails if the file changed'),
      }),
      output: fileResults.update_file,
      large: true,
      describeTarget(input) {
        const toTarget = resolver.toTarget(input.path)
        return input.dry_run ? { ...toTarget, data: { ...toTarget.data, dry_run: true } } : toTarget
      },
      paths: (input) => [{ path: input.path, need: 'write' }],
      // A dry run writes nothing and hides the diff of a sensitive file.
      isRisky: (input) => !input.dry_run && resolver.describeRisk(input.path),
      toPayload: async (input) => ({
        ...input,
        ...(input.content !== undefined && {
          content: await hashContent(Buffer.from(input.content)),
        }),
        ...(input.edits && {
          edits: await Promise.all(
            input.edits.map(async (edit) => ({
              old: await hashContent(Buffer.from(edit.old)),
              new: await hashContent(Buffer.from(edit.new)),
            })),
          ),
        }),
      }),
      startsBeforeRecord: true,
      async run(input, call) {
        const { path: given, content, edits, create_backup, dry_run, expected_sha256 } = input
        const written = await writer.update(call, {
          path: given,
          content: content === undefined ? undefined : Buffer.from(content),
          edits,
          backup: create_backup,
          dryRun: dry_run,
          expected: expected_sha256,
        })
        const { path: at, stat, before, backup, diff } = written
        const isHidden = diff !== '' && resolver.isSensitive(at)
        const output = {
          success: true as const,
          path: at,
          ...(backup !== undefined && { backup_path: backup }),
          ...(!dry_run && { updated_at: formatTime(stat.modifiedAt) }),
          diff: truncateDiff(isHidden ? undefined : diff),
          ...toWarnings(
            at,
            ...(before && create_backup && backup === undefined ? [noBackupWarning] : []),
          ),
        }
        if (!before) return { output }
        const replaced = { path: at, before }
        return {
          output,
          finalize: history.recordChange(call, { operation: 'update_file', made: at, replaced }),
        }
      },
      textOnly: true,
      text({ path: at, updated_at, backup_path, diff, warnings }) {
        if (diff === '')
          return withWarnings(`No change: ${escapeName(at)} already has that content.`, warnings)
        const isDone = updated_at !== undefined
        const done = isDone ? `Changed ${escapeName(at)}.` : `Would change ${escapeName(at)}.`
        const backup = backup_path === undefined ? '' : ` Backup: ${escapeName(backup_path)}.`
        const isLong = isDone && diff.length > maxInlineDiffLength
        const rest = isLong ? ` See file_diff ${toSafeJson({ path: at })}.` : `\n${diff}`
        return withWarnings(`${done}${backup}${rest}`, warnings)
      },
    }),
    defineTool({
      ...writes,
      name: 'delete_file',
      title: 'Delete a file',
      core: true,
      description:
        'Move a file or folder of the workspace to the trash; trash_restore restores it.',
      input: z.strictObject({ path }),
      output: fileResults.delete_file,
      describeTarget: (input) => resolver.toTarget(input.path),
      paths: (input) => [{ path: input.path, need: 'delete' }],
      async run(input, call) {
        const trashed = await trash.remove(call, input.path)
        const output = {
          success: true as const,
          deleted_path: trashed.path,
          trash_id: trashed.id,
        }
        return {
          output,
          finalize: history.recordChange(call, { operation: 'delete_file', trashed }),
        }
      },
      text: ({ deleted_path, trash_id }) =>
        `Moved ${escapeName(deleted_path)} to the trash. To undo: trash_restore ${toSafeJson({ trash_id })}`,
    }),
    defineTool({
      ...writes,
      name: 'move_file',
      title: 'Move a file',
      core: true,
      description:
        'Move or rename a file or folder in the workspace or one read-write grant. Never replaces a file.',
      input: z.strictObject({ source: z.string(), destination: z.string() }),
      output: fileResults.move_file,
      describeTarget: (input) =>
        resolver.toTransferTarget(input.source, getDestination(input), 'from'),
      paths: (input) => [{ path: input.source, need: 'write' }, toDestinationRequest(input)],
      isRisky: (input) => resolver.describeRisk(input.source, getDestination(input)),
      async run(input, call) {
        const { from, path: at } = await writer.move(call, input.source, getDestination(input))
        const output = { success: true as const, new_path: at }
        const moved = { from, to: at }
        return { output, finalize: history.recordChange(call, { operation: 'move_file', moved }) }
      },
      text: ({ new_path }) => `Moved to ${escapeName(new_path)}.`,
    }),
    defineTool({
      ...writes,
      name: 'copy_file',
      title: 'Copy a file',
      description:
        'Copy a readable file into the workspace or a read-write grant. Never replaces a file.',
      additive: true,
      input: z.strictObject({ source: z.string(), destination: z.string() }),
      output: fileResults.copy_file,
      describeTarget: (input) =>
        resolver.toTransferTarget(input.source, getDestination(input), 'to'),
      paths: (input) => [{ path: input.source, need: 'read' }, toDestinationRequest(input)],
      // A copy under an ordinary name would lose the protection of sensitive names.
      isRisky: (input) =>
        resolver.describeRisk(
          getDestination(input),
          ...(resolver.isSensitive(input.source) ? [input.source] : []),
        ),
      async run(input, call) {
        const { path: at } = await writer.copy(call, input.source, getDestination(input))
        return {
          output: { success: true as const, destination_path: at },
          finalize: history.recordChange(call, { operation: 'copy_file', made: at }),
        }
      },
      text: ({ destination_path }) => `Copied to ${escapeName(destination_path)}.`,
    }),
  ]
}

const withWarnings = (text: string, warnings: readonly string[] = []) =>
  [text, ...warnings.map((warning) => `[${warning}]`)].join('\n')

type Transfer = { readonly source: string; readonly destination: string }

const getDestination = ({ source, destination }: Transfer) =>
  resolveDestination(destination, source)

const toDestinationRequest = (input: Transfer): PathRequest => ({
  path: getDestination(input),
  need: 'create',
  createsFile: true,
})

/** The part of a content that the ledger keeps. */
const hashContent = async (content: Buffer) => ({
  bytes: content.length,
  sha256: await sha256HexInChunks(content),
})

/** Decodes the content; returns undefined for invalid base64. */
const decodeContent = ({
  content,
  encoding,
}: {
  readonly content: string
  readonly encoding: string
}) => (encoding === 'base64' ? decodeBase64(content) : Buffer.from(content))

function decodeBase64(content: string): Buffer | undefined {
  const characters = content.replaceAll(/\s/g, '')
  // Four characters encode three bytes; a single remaining character is invalid.
  const isWhole =
    characters.length % 4 === 0 || (characters.length % 4 > 1 && !characters.endsWith('='))
  const isBase64 = isWhole && /^[A-Za-z0-9+/]*={0,2}$/.test(characters)
  return isBase64 ? Buffer.from(characters, 'base64') : undefined
}
