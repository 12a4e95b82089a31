import { CoworkError } from '#base/errors.ts'
import type { clearable } from '../choices.ts'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { usage } from '../exit.ts'
import { plain } from '../plain.ts'
import { claimOf, findItem, projectOf } from './asking.ts'
import type { Found, InProject } from './asking.ts'
import { given } from './changing.ts'
import { givenText } from './given-text.ts'
import type { Story } from './wire.ts'

export type SetFlags = InProject & {
  readonly title?: string
  readonly status?: string
  readonly priority?: string
  readonly estimate?: number
  readonly notes?: string
  readonly append?: string
  readonly needs?: readonly string[]
  readonly paths?: readonly string[]
  readonly theme?: string
  /** Where its long text is. */
  readonly textFile?: string
  /** The hash of the text that is there. */
  readonly ifText?: string
  readonly goal?: string
  readonly themes?: readonly string[]
  readonly start?: string
  readonly end?: string
  readonly carryTo?: string
  readonly archive?: boolean
  /** Fields that go. */
  readonly clear?: readonly (typeof clearable)[number][]
  readonly ifRev?: number
}

type Kind = Found['kind']
type Flag = Exclude<keyof SetFlags, 'project' | 'ifRev' | 'clear'>

/** Which flags an item of a kind has, and what the tools call them. */
const namesOf: Readonly<Record<Kind, Readonly<Partial<Record<Flag, string>>>>> = {
  story: {
    title: 'title',
    status: 'status',
    priority: 'priority',
    estimate: 'estimate',
    notes: 'notes',
    append: 'append_notes',
    needs: 'depends_on',
    paths: 'paths',
  },
  sprint: {
    title: 'title',
    status: 'status',
    goal: 'goal',
    themes: 'themes',
    start: 'start',
    end: 'end',
    carryTo: 'carry_to',
    archive: 'archive',
  },
  backlog: {
    title: 'summary',
    status: 'status',
    priority: 'priority',
    theme: 'theme',
    textFile: 'text',
    ifText: 'text_sha256',
  },
}

const toolOf = {
  story: { tool: 'worksync_update_story', id: 'story_id', answer: 'story' },
  sprint: { tool: 'worksync_update_sprint', id: 'sprint_id', answer: 'sprint' },
  backlog: { tool: 'worksync_update_backlog', id: 'item_id', answer: 'item' },
} as const

/** Changes the named fields of whatever has this id. */
export async function setItem(context: Context, id: string, flags: SetFlags): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, flags)
  const found = await findItem(client, project, id)
  const { kind } = found
  const { tool, id: name, answer: key } = toolOf[kind]
  const change = {
    project,
    [name]: id,
    ...(await withText(found, flags)),
    ...given({ expect_rev: flags.ifRev }),
    ...claimOf(context),
  }
  const answer = await client
    .call<Record<string, { rev: number }> & { carried?: string[] }>(tool, change)
    .catch((error: unknown) => inOurWords(error, id))
  const carried = answer.carried ?? []
  context.out.data({ project, kind, ...answer }, () => [
    plain(`${id} is at revision ${answer[key]?.rev}.`),
    ...(carried.length === 0
      ? []
      : [plain(`${carried.join(', ')} went to ${flags.carryTo ?? ''}.`)]),
  ])
}

/** The fields, with the text itself: it takes the place of the one that is read here, and of no other (W25). */
async function withText(found: Found, flags: SetFlags): Promise<Record<string, unknown>> {
  if (found.kind === 'story' && flags.textFile !== undefined) checkOrigin(found.story)
  const { text, ...fields } = fieldsFor(found.kind, flags)
  if (found.kind !== 'backlog' || text === undefined) return fields
  return {
    ...given({ text_sha256: found.item.text_sha256 }),
    ...fields,
    text: typeof text === 'string' ? await givenText(text) : '',
  }
}

/** A story shows the text of the backlog item that it was. */
function checkOrigin({ id, from_backlog: from }: Story): void {
  if (from === undefined) return
  throw usage(
    `The text of ${plain(id)} is that of ${plain(from)}.`,
    `Change it there: \`cowork work set ${plain(from)} --text-file <file>\`.`,
  )
}

/** What an agent would do next is told by commands. */
function inOurWords(error: unknown, id: string): never {
  if (!(error instanceof CoworkError) || error.code !== 'stale') throw error
  throw new CoworkError(error.code, error.message, {
    hint: `Nothing was written. \`cowork work show ${plain(id)}\` shows what is there now.`,
  })
}

/** In the words of the tool, with the name of a file for its text; a flag that is of no use here is said, not dropped. */
export function fieldsFor(kind: Kind, flags: SetFlags): Record<string, unknown> {
  const { project: _, ifRev: __, clear = [], ...values } = flags
  const fields: Record<string, unknown> = {}
  const foreign: string[] = []
  for (const [flag, value] of Object.entries(values)) {
    if (value === undefined || !isFlag(flag)) continue
    const name = namesOf[kind][flag]
    if (name === undefined) foreign.push(`--${dashed(flag)}`)
    // As people write it.
    else fields[name] = flag === 'status' ? String(value).replaceAll('-', '_') : value
  }
  for (const field of clear) {
    const flag = field === 'text' ? 'textFile' : field
    const name = namesOf[kind][flag]
    if (name === undefined) foreign.push(`--${dashed(flag)}`)
    else fields[name] = null
  }
  if (foreign.length === 0) return fields
  const known = Object.keys(namesOf[kind]).map((flag) => `--${dashed(flag)}`)
  throw usage(
    `A ${kind === 'backlog' ? 'backlog item' : kind} has no ${foreign.join(', ')}.`,
    `It has ${known.join(', ')}.`,
  )
}

/** Others are for every command, such as `--json`. */
const isFlag = (name: string): name is Flag =>
  Object.values(namesOf).some((names) => Object.hasOwn(names, name))

const dashed = (flag: string) => flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
