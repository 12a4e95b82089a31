import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { at, findItem, pages, projectOf, tellStale } from './asking.ts'
import type { InProject } from './asking.ts'
import { itemLines } from './item-lines.ts'
import { itemTable, onTerminal } from './tables.ts'
import type { Brief, Paged } from './wire.ts'

export type ListFlags = InProject & {
  readonly kind?: string
  readonly sprint?: string
  readonly status?: string
  readonly lines: number
}

/** Items by their words, or all of them in the order of the file; in all projects unless one is named. */
export async function listItems(
  context: Context,
  words: readonly string[],
  { project, kind, sprint, status, lines }: ListFlags,
): Promise<void> {
  const client = createClient(context)
  const asked = {
    query: words.join(' '),
    ...(project !== undefined && { project: await projectOf(client, { project }) }),
    ...(kind !== undefined && { kind }),
    ...(sprint !== undefined && { sprint_id: sprint }),
    ...(status !== undefined && { status: status.replaceAll('-', '_') }),
    limit: Math.min(lines, 1000),
  }
  const { all, isMore, stale } = await pages(
    (cursor) =>
      client.call<Paged & { results: Brief[] }>('worksync_search', { ...asked, ...at(cursor) }),
    (page) => page.results,
    lines,
  )
  context.out.data({ items: all, stale }, () =>
    all.length === 0 ? ['Nothing was found.'] : itemTable(all),
  )
  if (isMore) context.out.note('There are more: -n shows them.')
  tellStale(context, stale)
}

/** What can be begun, the most urgent first (W20). */
export async function listReady(
  context: Context,
  { sprint, lines, ...named }: InProject & { readonly sprint?: string; readonly lines: number },
): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, named)
  const asked = { project, ...(sprint !== undefined && { sprint_id: sprint }) }
  const { all, isMore, stale } = await pages(
    (cursor) =>
      client.call<Paged & { stories: Brief[] }>('worksync_ready', {
        ...asked,
        limit: Math.min(lines, 1000),
        ...at(cursor),
      }),
    (page) => page.stories,
    lines,
  )
  context.out.data({ project, stories: all, stale }, () =>
    all.length === 0 ? ['Nothing can be begun: all is done, claimed or waits.'] : itemTable(all),
  )
  if (isMore) context.out.note('There are more: -n shows them.')
  tellStale(context, stale)
}

/** One story, backlog item or sprint, whole. */
export async function showItem(context: Context, id: string, named: InProject): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, named)
  const found = await findItem(client, project, id)
  context.out.data({ project, ...found }, () => itemLines(found, Date.now()).flatMap(onTerminal))
  tellStale(context, found.stale)
}
