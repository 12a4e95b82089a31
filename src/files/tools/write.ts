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

/** A model that wrote more than this knows what it wrote. */
const longDiff = 2000

/** Of one file alone is its folder closed: nothing new can lie in it. */
const noBackup =
  'No backup was made: the file alone is granted, not its folder. file_versions has what was there.'

export const writeTools = (files: Files): Tool[] => {
  const { places, history, writing, trash } = files
  const warned = (at: string, ...others: readonly string[]) => {
    const told = [
      ...(places.isSensitive(at) ? ['The name is one of those that hold secrets.'] : []),
      ...others,
    ]
    return told.length > 0 ? { warnings: told } : {}
  }

  return [
    defineTool({
      ...writes,
      name: 'create_file',
      title: 'Create a file',
      description:
        'Write a new file and the folders on its way. To change a file use update_file; overwrite replaces one that is there.',
      core: true,
      input: z.strictObject({
        path,
        content: z.string(),
        overwrite: z.boolean().default(false),
        encoding: z.string().default('utf-8').describe('`base64` for bytes'),
      }),
      output: fileResults.create_file,
      large: true,
      describeTarget: (input) => places.touch(input.path),
      paths: (input) => [
        { path: input.path, need: input.overwrite ? 'write' : 'create', createsFile: true },
      ],
      isRisky: (input) => places.riskOf(input.path),
      toPayload: async (input) => ({
        ...input,
        content: await digestOf(contentOf(input) ?? Buffer.from(input.content)),
      }),
      startsBeforeRecord: true,
      async run(input, call) {
        const { path: given, overwrite, encoding } = input
        const content = contentOf(input)
        if (!content)
          throw new CoworkError('invalid_input', 'The content is not base64.', {
            hint: 'Leave out encoding to write text.',
          })
        const written = await writing.create(call, {
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
            ...warned(at),
          },
          finalize: history.changed(call, {
            operation: 'create_file',
            made: at,
            replaced: before && { path: at, before },
          }),
        }
      },
      text: ({ full_path, size_bytes, warnings: told }) =>
        withWarnings(
          `Wrote ${escapeName(full_path)} (${size_bytes} ${size_bytes === 1 ? 'byte' : 'bytes'}).`,
          told,
        ),
    }),
    defineTool({
      ...writes,
      name: 'update_file',
      title: 'Change a file',
      description:
        'Change a file: edits replace text that occurs once, content replaces all of it. A version is kept. dry_run only shows the diff.',
      core: true,
      example: { path: 'notes.txt', edits: [{ old: 'text that is there', new: 'text instead' }] },
      input: z.strictObject({
        path,
        content: z.string().optional(),
        edits: z
          .array(z.strictObject({ old: z.string(), new: z.string() }))
          .min(1)
          .max(1000)
          .optional(),
        create_backup: z.boolean().default(true).describe('Keep a .bak beside it'),
        dry_run: z.boolean().default(false),
        expected_sha256: z
          .string()
          .regex(/^[0-9a-f]{12,64}$/i, 'must be the first 12 to 64 digits of a SHA-256')
          .optional()
          .describe('From read_file; refused if it changed'),
      }),
      output: fileResults.update_file,
      large: true,
      describeTarget(input) {
        const touch = places.touch(input.path)
        return input.dry_run ? { ...touch, data: { ...touch.data, dry_run: true } } : touch
      },
      paths: (input) => [{ path: input.path, need: 'write' }],
      // A dry run writes nothing, and shows nothing of what is sensitive.
      isRisky: (input) => !input.dry_run && places.riskOf(input.path),
      toPayload: async (input) => ({
        ...input,
        ...(input.content !== undefined && {
          content: await digestOf(Buffer.from(input.content)),
        }),
        ...(input.edits && {
          edits: await Promise.all(
            input.edits.map(async (edit) => ({
              old: await digestOf(Buffer.from(edit.old)),
              new: await digestOf(Buffer.from(edit.new)),
            })),
          ),
        }),
      }),
      startsBeforeRecord: true,
      async run(input, call) {
        const { path: given, content, edits, create_backup, dry_run, expected_sha256 } = input
        const written = await writing.update(call, {
          path: given,
          content: content === undefined ? undefined : Buffer.from(content),
          edits,
          backup: create_backup,
          dryRun: dry_run,
          expected: expected_sha256,
        })
        const { path: at, stat, before, backup, diff } = written
        const isHidden = diff !== '' && places.isSensitive(at)
        const output = {
          success: true as const,
          path: at,
          ...(backup !== undefined && { backup_path: backup }),
          ...(!dry_run && { updated_at: formatTime(stat.modifiedAt) }),
          diff: truncateDiff(isHidden ? undefined : diff),
          ...warned(at, ...(before && create_backup && backup === undefined ? [noBackup] : [])),
        }
        if (!before) return { output }
        const replaced = { path: at, before }
        return {
          output,
          finalize: history.changed(call, { operation: 'update_file', made: at, replaced }),
        }
      },
      textOnly: true,
      text({ path: at, updated_at, backup_path, diff, warnings: told }) {
        if (diff === '') return withWarnings(`${escapeName(at)} has that content already.`, told)
        const isDone = updated_at !== undefined
        const done = isDone ? `Changed ${escapeName(at)}.` : `Would change ${escapeName(at)}.`
        const backup = backup_path === undefined ? '' : ` The backup is ${escapeName(backup_path)}.`
        const isLong = isDone && diff.length > longDiff
        const rest = isLong ? ` See file_diff ${toSafeJson({ path: at })}.` : `\n${diff}`
        return withWarnings(`${done}${backup}${rest}`, told)
      },
    }),
    defineTool({
      ...writes,
      name: 'delete_file',
      title: 'Delete a file',
      core: true,
      description:
        'Move a file or folder of the workspace to the trash; trash_restore brings it back.',
      input: z.strictObject({ path }),
      output: fileResults.delete_file,
      describeTarget: (input) => places.touch(input.path),
      paths: (input) => [{ path: input.path, need: 'delete' }],
      async run(input, call) {
        const trashed = await trash.remove(call, input.path)
        const output = {
          success: true as const,
          deleted_path: trashed.path,
          trash_id: trashed.id,
        }
        return { output, finalize: history.changed(call, { operation: 'delete_file', trashed }) }
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
        'Move or rename a file or folder in the workspace or one read-write grant. Nothing is replaced.',
      input: z.strictObject({ source: z.string(), destination: z.string() }),
      output: fileResults.move_file,
      describeTarget: (input) => places.touchBoth(input.source, arrivalOf(input), 'from'),
      paths: (input) => [{ path: input.source, need: 'write' }, arrival(input)],
      isRisky: (input) => places.riskOf(input.source, arrivalOf(input)),
      async run(input, call) {
        const { from, path: at } = await writing.move(call, input.source, arrivalOf(input))
        const output = { success: true as const, new_path: at }
        const moved = { from, to: at }
        return { output, finalize: history.changed(call, { operation: 'move_file', moved }) }
      },
      text: ({ new_path }) => `Moved to ${escapeName(new_path)}.`,
    }),
    defineTool({
      ...writes,
      name: 'copy_file',
      title: 'Copy a file',
      description:
        'Copy a file that you may read into the workspace or a read-write grant. Nothing is replaced.',
      additive: true,
      input: z.strictObject({ source: z.string(), destination: z.string() }),
      output: fileResults.copy_file,
      describeTarget: (input) => places.touchBoth(input.source, arrivalOf(input), 'to'),
      paths: (input) => [{ path: input.source, need: 'read' }, arrival(input)],
      // A secret under a plain name is found and shown like any text.
      isRisky: (input) =>
        places.riskOf(
          arrivalOf(input),
          ...(places.isSensitive(input.source) ? [input.source] : []),
        ),
      async run(input, call) {
        const { path: at } = await writing.copy(call, input.source, arrivalOf(input))
        return {
          output: { success: true as const, destination_path: at },
          finalize: history.changed(call, { operation: 'copy_file', made: at }),
        }
      },
      text: ({ destination_path }) => `Copied to ${escapeName(destination_path)}.`,
    }),
  ]
}

const withWarnings = (text: string, told: readonly string[] = []) =>
  [text, ...told.map((warning) => `[${warning}]`)].join('\n')

type Transfer = { readonly source: string; readonly destination: string }

const arrivalOf = ({ source, destination }: Transfer) => resolveDestination(destination, source)

const arrival = (input: Transfer): PathRequest => ({
  path: arrivalOf(input),
  need: 'create',
  createsFile: true,
})

/** What the ledger keeps of a content: enough to know it again. */
const digestOf = async (content: Buffer) => ({
  bytes: content.length,
  sha256: await sha256HexInChunks(content),
})

/** The bytes of the content; undefined where it says that it is base64 and is not. */
const contentOf = ({
  content,
  encoding,
}: {
  readonly content: string
  readonly encoding: string
}) => (encoding === 'base64' ? bytesOf(content) : Buffer.from(content))

function bytesOf(content: string): Buffer | undefined {
  const letters = content.replaceAll(/\s/g, '')
  // Four letters are three bytes; one alone is none.
  const isWhole = letters.length % 4 === 0 || (letters.length % 4 > 1 && !letters.endsWith('='))
  const isBase64 = isWhole && /^[A-Za-z0-9+/]*={0,2}$/.test(letters)
  return isBase64 ? Buffer.from(letters, 'base64') : undefined
}
