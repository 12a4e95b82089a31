import type { clearable } from '../choices.ts'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { usage } from '../exit.ts'
import { plain } from '../plain.ts'
import { claimOf, findItem, projectOf } from './asking.ts'
import type { Found, InProject } from './asking.ts'
import { given } from './changing.ts'

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
  backlog: { title: 'summary', status: 'status', priority: 'priority', theme: 'theme' },
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
  const { kind } = await findItem(client, project, id)
  const { tool, id: name, answer: key } = toolOf[kind]
  const answer = await client.call<Record<string, { rev: number }> & { carried?: string[] }>(tool, {
    project,
    [name]: id,
    ...fieldsFor(kind, flags),
    ...given({ expect_rev: flags.ifRev }),
    ...claimOf(context),
  })
  const carried = answer.carried ?? []
  context.out.data({ project, kind, ...answer }, () => [
    plain(`${id} is at revision ${answer[key]?.rev}.`),
    ...(carried.length === 0
      ? []
      : [plain(`${carried.join(', ')} went to ${flags.carryTo ?? ''}.`)]),
  ])
}

/** In the words of the tool; a flag that this kind has no use for is said, not dropped. */
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
  for (const flag of clear) {
    const name = namesOf[kind][flag]
    if (name === undefined) foreign.push(`--${flag}`)
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
