import type { ToolResults } from '#wire'
import { itemKinds } from '../choices.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { choice, count, text } from '../option-kinds.ts'
import type { Values } from '../option-kinds.ts'
import { pages } from '../pages.ts'
import { findItem, listNotes, projectNamed, projectOf, staleNotes } from './asking.ts'
import { itemLines } from './item-lines.ts'
import { itemTable, onTerminal } from './tables.ts'
import type { Brief } from './wire.ts'

const sprint = () => text('--sprint <id>', 'only in this sprint')

const filters = (lines: number) => ({
  kind: choice('--kind <kind>', 'only of this kind', itemKinds),
  sprint: sprint(),
  status: text('--status <status>', 'only with this status'),
  lines: count(lines),
})

type Asked = {
  readonly client: Client
  readonly args: readonly string[]
  readonly options: Values<ReturnType<typeof filters>>
}
type Listing = { items: Brief[]; stale: readonly string[]; isMore: boolean }

/** Items by their words, or all of them in the order of the file; in all projects unless one is named. */
const listing = {
  async run(call: Asked): Promise<Listing> {
    const { client, args, options } = call
    const asked = {
      query: args.join(' '),
      project: await projectNamed(call),
      kind: options.kind,
      sprint_id: options.sprint,
      status: options.status?.replaceAll('-', '_'),
      limit: Math.min(options.lines, 1000),
    }
    const of = (page: ToolResults['worksync_search']) => page.results as Brief[]
    const found = await pages(client, 'worksync_search', asked, of, options.lines)
    return { items: found.all, stale: found.last.stale ?? [], isMore: found.isMore }
  },
  json: ({ items, stale }: Listing) => ({ items, stale }),
  show: ({ items }: Listing) => (items.length === 0 ? 'Nothing was found.' : itemTable(items)),
  notes: listNotes,
}

export const listingCommands = [
  command({
    usage: 'list',
    summary: 'stories, backlog and sprints',
    options: filters(100),
    ...listing,
  }),
  command({
    usage: 'search <words...>',
    summary: 'the same, by their words',
    options: filters(50),
    ...listing,
  }),
  // The most urgent first (W20).
  command({
    usage: 'ready',
    summary: 'what can be begun, the most urgent first',
    options: { sprint: sprint(), lines: count(20) },
    async run(call) {
      const { lines } = call.options
      const project = await projectOf(call)
      const asked = { project, sprint_id: call.options.sprint, limit: Math.min(lines, 1000) }
      const of = (page: ToolResults['worksync_ready']) => page.stories as Brief[]
      const { all, isMore, last } = await pages(call.client, 'worksync_ready', asked, of, lines)
      return { project, stories: all, stale: last.stale ?? [], isMore }
    },
    json: ({ project, stories, stale }) => ({ project, stories, stale }),
    show: ({ stories }) =>
      stories.length === 0
        ? 'Nothing can be begun: all is done, claimed or waits.'
        : itemTable(stories),
    notes: listNotes,
  }),
  command({
    usage: 'show <id>',
    summary: 'one story, backlog item or sprint',
    async run(call) {
      const project = await projectOf(call)
      return { project, ...(await findItem(call.client, project, call.args[0])) }
    },
    show: (found) => itemLines(found, Date.now()).flatMap(onTerminal),
    notes: ({ stale }) => staleNotes(stale),
  }),
]
