import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import { clearableFields } from '../choices.ts'
import { choices, command, flag, list, parsePositiveInt, text } from '../command.ts'
import type { Values } from '../command.ts'
import { usageError } from '../exit.ts'
import { sanitize } from '../output.ts'
import { readAgentClaim, findItem, readTextInput, resolveProject } from './requests.ts'
import type { FoundItem } from './requests.ts'
import { estimate, dependsOn, paths, priority, textFile } from './mutations.ts'
import type { Story } from './wire.ts'

const settable = {
  title: text('--title <text>', 'title; summary of a backlog item'),
  status: text('--status <status>', 'status'),
  priority: priority(),
  estimate: estimate(),
  notes: text('--notes <text>', 'replace the notes'),
  append: text('--append <text>', 'append to the notes'),
  needs: dependsOn(),
  paths: paths(),
  theme: text('--theme <name>', 'theme of a backlog item'),
  textFile: textFile(),
  ifText: text('--if-text <sha256>', 'expected text: text_sha256 of show --json'),
  goal: text('--goal <text>', 'goal of a sprint'),
  themes: list('--themes <names...>', 'themes of a sprint'),
  start: text('--start <date>', 'first day of a sprint'),
  end: text('--end <date>', 'last day of a sprint'),
  carryTo: text('--carry-to <sprint>', 'with --status completed: sprint for the open stories'),
  archive: flag('--archive', 'move a sprint to COMPLETE/'),
  clear: choices('--clear <fields...>', 'clear these fields', clearableFields),
  ifRev: parsePositiveInt('--if-rev <number>', 'expected revision'),
}
type SetFlags = Values<typeof settable>

type Kind = FoundItem['kind']
type Flag = Exclude<keyof SetFlags, 'ifRev' | 'clear'>

const flagsByKind: Readonly<Record<Kind, readonly Flag[]>> = {
  story: ['title', 'status', 'priority', 'estimate', 'notes', 'append', 'needs', 'paths'],
  sprint: ['title', 'status', 'goal', 'themes', 'start', 'end', 'carryTo', 'archive'],
  backlog: ['title', 'status', 'priority', 'theme', 'textFile', 'ifText'],
}

const fieldNames: Readonly<Partial<Record<Flag, string>>> = {
  append: 'append_notes',
  needs: 'depends_on',
  carryTo: 'carry_to',
  textFile: 'text',
  ifText: 'text_sha256',
}

function toField(kind: Kind, flag: Flag): string | undefined {
  if (!flagsByKind[kind].includes(flag)) return undefined
  return kind === 'backlog' && flag === 'title' ? 'summary' : (fieldNames[flag] ?? flag)
}

const toolByKind = {
  story: { tool: 'worksync_update_story', id: 'story_id' },
  sprint: { tool: 'worksync_update_sprint', id: 'sprint_id' },
  backlog: { tool: 'worksync_update_backlog', id: 'item_id' },
} as const

export const setCommand = command({
  usage: 'set <id>',
  summary: 'change fields of a story, backlog item or sprint',
  options: settable,
  async run(call) {
    const { client, options } = call
    const [id] = call.args
    const project = await resolveProject(call)
    const item = await findItem(client, project, id)
    const { tool, id: name } = toolByKind[item.kind]
    const change = {
      project,
      [name]: id,
      ...(await readChange(item, options)),
      expect_rev: options.ifRev,
      ...readAgentClaim(call),
    }
    const answer = await client.call(tool, change).catch((error: unknown) => replaceHint(error, id))
    return {
      data: { project, kind: item.kind, ...answer },
      rev: Number(changedItem(answer)['rev']),
      carried: 'carried' in answer ? answer.carried : [],
    }
  },
  json: ({ data }) => data,
  show: ({ carried, rev }, { args: [id], options }) => [
    sanitize(`Updated ${id} (revision ${rev}).`),
    ...(carried.length === 0
      ? []
      : [sanitize(`Moved ${carried.join(', ')} to ${options.carryTo ?? ''}.`)]),
  ],
})

function changedItem(answer: ToolResults[(typeof toolByKind)[Kind]['tool']]) {
  if ('story' in answer) return answer.story
  return 'sprint' in answer ? answer.sprint : answer.item
}

/** Adds the text and the hash of the current one, so that no newer text is replaced (W25). */
async function readChange(found: FoundItem, flags: SetFlags): Promise<Record<string, unknown>> {
  if (found.kind === 'story' && flags.textFile !== undefined) checkOrigin(found.story)
  const { text, ...fields } = toFields(found.kind, flags)
  if (found.kind !== 'backlog' || text === undefined) return fields
  return {
    text_sha256: found.item.text_sha256,
    ...fields,
    text: typeof text === 'string' ? await readTextInput(text) : '',
  }
}

/** Rejects a text for a story made from a backlog item, whose text it shows. */
function checkOrigin({ id, from_backlog: from }: Story): void {
  if (from === undefined) return
  throw usageError(
    `The text of ${sanitize(id)} belongs to backlog item ${sanitize(from)}.`,
    `Use \`cowork work set ${sanitize(from)} --text-file <file>\`.`,
  )
}

/** Replaces the hint for agents by one that names commands. */
function replaceHint(error: unknown, id: string): never {
  if (!(error instanceof CoworkError) || error.code !== 'stale') throw error
  throw new CoworkError(error.code, error.message, {
    hint: `Check the current text with \`cowork work show ${sanitize(id)}\`, then retry.`,
  })
}

/**
 * Converts flags to tool fields; the text is still a file name. Throws for flags that do not apply
 * to the kind.
 */
export function toFields(kind: Kind, flags: SetFlags): Record<string, unknown> {
  const { ifRev: _, clear = [], ...values } = flags
  const fields: Record<string, unknown> = {}
  const inapplicable: string[] = []
  const set = (flag: Flag, value: unknown) => {
    const name = toField(kind, flag)
    if (name === undefined) inapplicable.push(`--${toDashed(flag)}`)
    else fields[name] = value
  }
  for (const [flag, value] of Object.entries(values))
    // People write in-progress.
    if (value !== undefined && isFlag(flag))
      set(flag, flag === 'status' ? String(value).replaceAll('-', '_') : value)
  for (const field of clear) set(field === 'text' ? 'textFile' : field, null)
  if (inapplicable.length === 0) return fields
  const known = flagsByKind[kind].map((flag) => `--${toDashed(flag)}`)
  throw usageError(
    `A ${kind === 'backlog' ? 'backlog item' : kind} has no ${inapplicable.join(', ')}.`,
    `Use ${known.join(', ')}.`,
  )
}

/** Excludes global flags such as `--json`. */
const isFlag = (name: string): name is Flag =>
  Object.values(flagsByKind).some((flags: readonly string[]) => flags.includes(name))

const toDashed = (flag: string) => flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
