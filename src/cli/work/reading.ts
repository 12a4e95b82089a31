import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { plain } from '../plain.ts'
import { at, claimOf, pages, projectOf, tellStale } from './asking.ts'
import type { InProject } from './asking.ts'
import { historyLine } from './item-lines.ts'
import { onTerminal } from './tables.ts'
import type { HistoryEntry, Paged } from './wire.ts'

/** What was done, the newest first; with a text it is added to (W17). */
export async function workHistory(
  context: Context,
  {
    add,
    sprint,
    lines,
    ...named
  }: InProject & {
    readonly add?: string
    readonly sprint?: readonly string[]
    readonly lines: number
  },
): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, named)
  if (add !== undefined) {
    const { appended } = await client.call<{ appended: HistoryEntry }>('worksync_history', {
      project,
      summary: add,
      ...(sprint && { related_sprints: sprint }),
      limit: 1,
      ...claimOf(context),
    })
    context.out.data({ project, appended }, () => onTerminal(historyLine(appended)))
    return
  }
  const { all, isMore, stale } = await pages(
    (cursor) =>
      client.call<Paged & { history: HistoryEntry[] }>('worksync_history', {
        project,
        limit: Math.min(lines, 1000),
        ...at(cursor),
      }),
    (page) => page.history,
    lines,
  )
  context.out.data({ project, history: all, stale }, () =>
    all.length === 0 ? ['Nothing was done yet.'] : all.map(historyLine).flatMap(onTerminal),
  )
  if (isMore) context.out.note('There are more: -n shows them.')
  tellStale(context, stale)
}

type Guidance = Paged & {
  readonly guidance: readonly { readonly name: string; readonly text: string }[]
  readonly topics: readonly string[]
  readonly faults?: readonly { readonly name: string; readonly message: string }[]
}

/** What agents are told about how to work here (W19). */
export async function workGuidance(
  context: Context,
  topic: string | undefined,
  { project }: InProject,
): Promise<void> {
  const client = createClient(context)
  const asked = {
    ...(topic !== undefined && { topic }),
    ...(project !== undefined && { project: await projectOf(client, { project }) }),
  }
  let last: Guidance | undefined
  const { all } = await pages(
    async (cursor) =>
      (last = await client.call<Guidance>('worksync_guidance', { ...asked, ...at(cursor) })),
    (page) => page.guidance,
  )
  // Long texts come in pieces.
  const texts = new Map<string, string>()
  for (const { name, text } of all) texts.set(name, (texts.get(name) ?? '') + text)
  const guidance = [...texts].map(([name, text]) => ({ name, text }))
  context.out.data({ guidance, topics: last?.topics ?? [], faults: last?.faults ?? [] }, () =>
    guidance.length === 0
      ? [`There is no guidance on that. Topics: ${plain((last?.topics ?? []).join(', '))}.`]
      : guidance.flatMap(({ text }, place) => [
          ...(place > 0 ? [''] : []),
          ...text.trimEnd().split('\n').map(plain),
        ]),
  )
  for (const { name, message } of last?.faults ?? [])
    context.out.note(`${plain(name)} is left out: ${plain(message)}`)
}
