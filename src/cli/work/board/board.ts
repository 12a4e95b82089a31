import { flag, localCommand, text } from '../../command.ts'
import type { Context } from '../../context.ts'
import { renderLine } from '../../inbox/lines.ts'
import { sanitize } from '../../output.ts'
import { resolvePrefix } from '../../lookup.ts'
import { hasScreen } from '../../terminal.ts'
import { readAgentClaim, resolveProject, readProjects, staleNotes } from '../requests.ts'
import { cardLine, formatWorkStatus } from '../item-lines.ts'
import { readBoard, showBoard } from './loop.ts'
import type { BoardRead } from './loop.ts'
import { buildColumns } from './state.ts'

/**
 * Shows the stories of a sprint by status: an interactive screen in a terminal, otherwise a list.
 */
export const boardCommand = localCommand({
  usage: 'board',
  summary: 'show the stories of a sprint on a board',
  options: {
    sprint: text('--sprint <id>', 'sprint to show (default: the active one)'),
    list: flag('--list', 'print a list, even in a terminal'),
  },
  async act(call) {
    const { client, options } = call
    const project = await resolveProject(call)
    const defaultBoard = await readBoard(client, project, undefined)
    const ids = defaultBoard.sprints.map(({ id }) => id)
    const sprint =
      options.sprint === undefined
        ? defaultBoard.sprint
        : resolvePrefix(options.sprint, ids, 'sprint')
    if (!hasScreen(call, options)) {
      const board =
        sprint === defaultBoard.sprint ? defaultBoard : await readBoard(client, project, sprint)
      return print(call, board)
    }
    const projects = (await readProjects(client)).map((one) => one.project)
    const start = { project, projects, sprint }
    const { stdin, stdout } = process
    return showBoard({ client, start, claim: readAgentClaim(call), stdin, stdout })
  },
})

function print(context: Context, { project, sprint, sprints, stories, isStale }: BoardRead): void {
  const columns = buildColumns({ stories, filter: '' })
  const shownSprint = sprints.find(({ id }) => id === sprint)
  context.out.data({ project, sprint, columns, stale: isStale }, () =>
    shownSprint
      ? [
          `${sanitize(project)} · ${sanitize(shownSprint.id)} · ${shownSprint.done} of ${shownSprint.stories} done`,
          ...columns.flatMap(({ status, stories: columnStories }) => [
            '',
            `${formatWorkStatus(status).toUpperCase()} ${columnStories.length}`,
            ...columnStories.map(
              (story) => `  ${renderLine(cardLine(story, Date.now()), process.stdout)}`,
            ),
          ]),
        ]
      : [`No sprints in ${sanitize(project)}. Create one with \`cowork work sprint <id>\`.`],
  )
  staleNotes(isStale ? [project] : []).forEach(context.out.note)
}
