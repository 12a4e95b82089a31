import type { ToolResults } from '#wire'
import { command } from '../command.ts'
import { count, list, text } from '../option-kinds.ts'
import { pages } from '../pages.ts'
import { plain } from '../plain.ts'
import { claimOf, listNotes, projectNamed, projectOf } from './asking.ts'
import { historyLine } from './item-lines.ts'
import { onTerminal } from './tables.ts'
import type { HistoryEntry } from './wire.ts'

type Appended = { readonly project: string; readonly appended: HistoryEntry }
type History = {
  readonly project: string
  readonly history: readonly HistoryEntry[]
  readonly stale: readonly string[]
  readonly isMore: boolean
}

export const readingCommands = [
  // With a text it is added to (W17).
  command({
    usage: 'history',
    summary: 'what was done, the newest first',
    options: {
      add: text('--add <text>', 'add this to it'),
      sprint: list('--sprint <ids...>', 'with --add: the sprints it belongs to'),
      lines: count(50),
    },
    async run(call): Promise<Appended | History> {
      const { client, options } = call
      const { add: summary, sprint, lines } = options
      const project = await projectOf(call)
      if (summary !== undefined) {
        const asked = { project, summary, related_sprints: sprint, limit: 1, ...claimOf(call) }
        const { appended } = await client.call('worksync_history', asked)
        if (!appended) throw new Error('the daemon did not say what it added to the history')
        return { project, appended }
      }
      const asked = { project, limit: Math.min(lines, 1000) }
      const of = (page: ToolResults['worksync_history']) => page.history as HistoryEntry[]
      const { all, isMore, last } = await pages(client, 'worksync_history', asked, of, lines)
      return { project, history: all, stale: last.stale ?? [], isMore }
    },
    json: (found) =>
      'appended' in found
        ? found
        : { project: found.project, history: found.history, stale: found.stale },
    show(found) {
      if ('appended' in found) return onTerminal(historyLine(found.appended))
      const { history } = found
      return history.length === 0
        ? 'Nothing was done yet.'
        : history.map(historyLine).flatMap(onTerminal)
    },
    notes: (found) => ('appended' in found ? [] : listNotes(found)),
  }),
  // How agents are to work here (W19).
  command({
    usage: 'guidance [topic]',
    summary: 'what agents are told about working here',
    async run(call) {
      const asked = { topic: call.args[0], project: await projectNamed(call) }
      const of = (page: ToolResults['worksync_guidance']) => page.guidance
      const { all, last } = await pages(call.client, 'worksync_guidance', asked, of)
      // Long texts come in pieces.
      const texts = new Map<string, string>()
      for (const { name, text: piece } of all) texts.set(name, (texts.get(name) ?? '') + piece)
      const guidance = [...texts].map(([name, whole]) => ({ name, text: whole }))
      return { guidance, topics: last.topics, faults: last.faults ?? [] }
    },
    show: ({ guidance, topics }) =>
      guidance.length === 0
        ? `There is no guidance on that. Topics: ${topics.join(', ')}.`
        : guidance.flatMap(({ text: whole }, at) => [
            ...(at > 0 ? [''] : []),
            ...whole.trimEnd().split('\n').map(plain),
          ]),
    notes: ({ faults }) =>
      faults.map(({ name, message }) => plain(`${name} is left out: ${message}`)),
  }),
]
