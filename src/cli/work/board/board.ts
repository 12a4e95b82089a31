import { createClient } from '../../client.ts'
import type { Context } from '../../context.ts'
import type { ExitCode } from '../../exit.ts'
import { painted } from '../../inbox/lines.ts'
import { plain } from '../../plain.ts'
import { byPrefix } from '../../prefix.ts'
import { claimOf, projectOf, readProjects, tellStale } from '../asking.ts'
import type { InProject } from '../asking.ts'
import { cardLine, wordsOf } from '../item-lines.ts'
import { readBoard } from './read.ts'
import type { BoardRead } from './read.ts'
import { columnsOf } from './state.ts'

export type BoardFlags = InProject & {
  readonly sprint?: string
  readonly list?: boolean
  readonly json?: boolean
}

const { stdin, stdout } = process

/** The stories of a sprint by status: a screen to move them on where there is a terminal, else a list. */
export async function board(context: Context, flags: BoardFlags): Promise<ExitCode | void> {
  const client = createClient(context)
  const project = await projectOf(client, flags)
  const read = await readBoard(client, project, undefined)
  const { sprint: given } = flags
  const sprint =
    given === undefined
      ? read.sprint
      : byPrefix(
          given,
          read.sprints.map(({ id }) => id),
          'sprint',
        )
  if (!hasScreen(context, flags)) {
    const asked = sprint === read.sprint ? read : await readBoard(client, project, sprint)
    return print(context, asked)
  }
  const projects = (await readProjects(client)).map((one) => one.project)
  const { showBoard } = await import('./loop.ts')
  const start = { project, projects, sprint }
  return showBoard({ client, start, claim: claimOf(context), stdin, stdout })
}

const hasScreen = ({ env }: Context, { list, json }: BoardFlags): boolean =>
  !list && !json && stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb'

function print(context: Context, { project, sprint, sprints, stories, isStale }: BoardRead): void {
  const columns = columnsOf({ stories, filter: '' })
  const shown = sprints.find(({ id }) => id === sprint)
  context.out.data({ project, sprint, columns, stale: isStale }, () =>
    shown
      ? [
          `${plain(project)} · ${plain(shown.id)} · ${shown.done} of ${shown.stories} done`,
          ...columns.flatMap(({ status, stories: own }) => [
            '',
            `${wordsOf(status).toUpperCase()} ${own.length}`,
            ...own.map((story) => `  ${painted(cardLine(story, Date.now()), stdout)}`),
          ]),
        ]
      : [`${plain(project)} has no sprint: \`cowork work sprint <id>\` creates one.`],
  )
  tellStale(context, isStale ? [project] : [])
}
