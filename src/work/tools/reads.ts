import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { ProjectSnapshot } from '../project-cache.ts'
import { paginate, paginateItem } from '../paging.ts'
import type { Paging } from '../paging.ts'
import type { HistoryEntry } from '../model.ts'
import { sourceBacklogId } from '../rules.ts'
import type { Work } from '../service.ts'
import {
  toStorySummary,
  listReady,
  searchProject,
  toProjectStatus,
  toStoryDetail,
  listTextIds,
  tokenize,
} from '../views.ts'
import type { TextMatches } from '../views.ts'
import {
  agent,
  cursor,
  ids,
  itemId,
  limit,
  shortText,
  project,
  sprintId,
  storyId,
  toCallTarget,
  omitAgent,
} from './shared-schemas.ts'
import { workResults } from '../wire.ts'

const read = { toolset: 'work', effect: 'read', by: 'anyone' } as const
const noTexts: TextMatches = new Map()

const historyShape = {
  toolset: 'work',
  by: 'anyone',
  name: 'worksync_history',
  title: 'History',
  description: 'Read the history of a project, newest first; with summary, add an entry to it.',
  input: z.object({
    project,
    action: z.enum(['list', 'add']).optional().describe('add needs summary'),
    summary: shortText.optional().describe('Text of the new entry'),
    related_sprints: ids.optional(),
    cursor,
    limit,
    agent,
  }),
  output: workResults.worksync_history,
  describeTarget: (input: { readonly project: string }) => toCallTarget(input.project),
} as const

/** Returns the kind of the item; a conflict about the file as a whole has none. */
function findItemKind(
  snapshot: ProjectSnapshot,
  id: string,
): 'story' | 'sprint' | 'backlog' | undefined {
  if (snapshot.story(id)) return 'story'
  if (snapshot.backlogItem(id)) return 'backlog'
  return snapshot.sprint(id) ? 'sprint' : undefined
}

/** Tools that read work items from a cache that is as new as the store (W10, W11, W20, W23). */
export function readTools(work: Work): Tool[] {
  const { snapshots, now } = work
  const toStaleField = (names: readonly string[]) => {
    const broken = names.filter((name) => work.getInvalidFile(name))
    return broken.length > 0 ? { stale: broken } : {}
  }
  const getSnapshots = async (name: string | undefined): Promise<ProjectSnapshot[]> =>
    Promise.all(
      (name === undefined ? work.projects() : [name]).map((one) => snapshots.current(one)),
    )

  const getText = (name: string, id: string, { cursor: from }: Paging) =>
    work.texts.getTextFields(work.db, name, id, from)

  const textHits = async (snapshot: ProjectSnapshot, words: readonly string[], kind?: string) =>
    words.length === 0 || kind === 'sprint'
      ? noTexts
      : work.texts.findWords(work.db, snapshot.project, listTextIds(snapshot), words)

  const historyPage = (entries: readonly HistoryEntry[], name: string, paging: Paging) => {
    const { page, ...next } = paginate(entries, { limit: 50, ...paging })
    return { history: page, total: entries.length, ...next, ...toStaleField([name]) }
  }
  const history = defineTool({
    ...historyShape,
    effect: 'write',
    additive: true,
    // Policies and the ledger treat listing as a read (RA13).
    forInput: ({ action, summary }) =>
      action === 'list' || (action === undefined && summary === undefined)
        ? viewHistory
        : undefined,
    async transact(tx, given, call) {
      const { project: name, summary, related_sprints, ...rest } = omitAgent(given, call)
      if (summary === undefined)
        throw new CoworkError('invalid_input', 'Missing summary.', {
          hint: 'Call worksync_history {"project":"web","summary":"Shipped 1.2"}.',
        })
      const { action: _, ...paging } = rest
      const added = { project: name, summary, related_sprints }
      const appended = await work.sprints.addHistory(tx, added, call)
      return { ...historyPage(await work.listHistory(tx, name), name, paging), appended }
    },
  })
  const viewHistory = defineTool({
    ...historyShape,
    effect: 'read',
    async read({ project: name, ...paging }) {
      return historyPage(await work.listHistory(work.db, name), name, paging)
    },
  })

  return [
    defineTool({
      ...read,
      name: 'worksync_status',
      title: 'Work status',
      core: true,
      description:
        'Show active sprints, stories in progress, counts and conflicts of one or all projects. Start here before you work.',
      input: z.object({ project: project.optional(), cursor }),
      output: workResults.worksync_status,
      describeTarget: (input) => toCallTarget(input.project ?? '*'),
      async read(input) {
        const found = await getSnapshots(input.project)
        const { page, ...next } = paginate(
          found.map((snapshot) => {
            const unwritten = work.getWriteFailure(snapshot.project)
            return { ...toProjectStatus(snapshot, now()), ...(unwritten && { unwritten }) }
          }),
          { cursor: input.cursor },
        )
        return {
          projects: page,
          ...next,
          ...toStaleField(found.map((snapshot) => snapshot.project)),
        }
      },
    }),
    defineTool({
      ...read,
      name: 'worksync_get',
      example: { project: 'web', story_id: 'STORY-1' },
      title: 'Get an item',
      core: true,
      description:
        'Read one story, sprint (with its stories), backlog item (with its text) or conflict in full. Give one id.',
      input: z.object({
        project,
        story_id: storyId.optional(),
        sprint_id: sprintId.optional(),
        item_id: itemId.optional(),
        conflict_id: z.string().max(100).optional(),
        cursor,
        limit,
      }),
      output: workResults.worksync_get,
      describeTarget: ({ project: name, story_id, sprint_id, item_id, conflict_id }) =>
        toCallTarget(name, story_id ?? sprint_id ?? item_id ?? conflict_id),
      async read({ project: name, story_id, sprint_id, item_id, conflict_id, ...paging }) {
        const snapshot = await snapshots.current(name)
        const notFoundError = (what: string, id: string) =>
          new CoworkError('not_found', `Not found: ${what} ${JSON.stringify(id)} in ${name}.`, {
            hint: 'Search for the item with worksync_search.',
          })
        if (story_id !== undefined) {
          const story = snapshot.story(story_id)
          if (!story) throw notFoundError('story', story_id)
          const from = sourceBacklogId(story.item)
          // The backlog text from before the item became a story.
          const text = from === undefined ? {} : await getText(name, from, paging)
          const detail = { ...toStoryDetail(snapshot, story, now()), ...text }
          const { part, ...next } = paginateItem(detail, paging)
          return { story: part, ...next, ...toStaleField([name]) }
        }
        if (sprint_id !== undefined) {
          const sprint = snapshot.sprint(sprint_id)
          if (!sprint) throw notFoundError('sprint', sprint_id)
          const stories = snapshot.stories().filter((story) => story.sprint === sprint_id)
          const { item: own, rev } = sprint
          const summaries = stories.map((story) => () => toStorySummary(story, now()))
          const { part, ...next } = paginateItem({ ...own, rev, stories: summaries }, paging)
          const { stories: page = [], ...rest } = part
          return { sprint: rest, stories: page, ...next, ...toStaleField([name]) }
        }
        if (conflict_id !== undefined) {
          const conflict = snapshot.conflicts().find(({ id }) => id === conflict_id)
          if (!conflict) throw notFoundError('conflict', conflict_id)
          const { part, ...next } = paginateItem(conflict, paging)
          const about = findItemKind(snapshot, conflict.item)
          return { conflict: part, ...(about && { about }), ...next, ...toStaleField([name]) }
        }
        if (item_id === undefined)
          throw new CoworkError('invalid_input', 'Missing id.', {
            hint: 'Give story_id, sprint_id, item_id or conflict_id.',
          })
        const found = snapshot.backlogItem(item_id)
        if (!found) throw notFoundError('backlog item', item_id)
        const text = await getText(name, item_id, paging)
        const { part, ...next } = paginateItem({ ...found.item, rev: found.rev, ...text }, paging)
        return { item: part, ...next, ...toStaleField([name]) }
      },
    }),
    defineTool({
      ...read,
      name: 'worksync_ready',
      title: 'Ready stories',
      core: true,
      description:
        'List stories that can be started now, the most urgent first. Then claim one with worksync_claim.',
      input: z.object({ project, sprint_id: sprintId.optional(), cursor, limit }),
      output: workResults.worksync_ready,
      describeTarget: (input) => toCallTarget(input.project),
      async read({ project: name, sprint_id: sprint, ...paging }) {
        const ready = listReady(await snapshots.current(name), now(), sprint)
        const { page, ...next } = paginate(
          ready.map((story) => () => toStorySummary(story, now())),
          { limit: 20, ...paging },
        )
        return { stories: page, total: ready.length, ...next, ...toStaleField([name]) }
      },
    }),
    defineTool({
      ...read,
      name: 'worksync_search',
      title: 'Search work',
      description:
        'Find stories, backlog items and sprints that contain all these words, best first; without query, all items.',
      input: z.object({
        query: z.string().trim().max(500).default(''),
        project: project.optional(),
        kind: z.enum(['story', 'backlog', 'sprint']).optional(),
        sprint_id: sprintId.optional(),
        status: z.string().max(20).optional(),
        cursor,
        limit,
      }),
      output: workResults.worksync_search,
      describeTarget: (input) => toCallTarget(input.project ?? '*'),
      async read({ query, project: name, kind, sprint_id: sprint, status, ...paging }) {
        const found = await getSnapshots(name)
        const words = tokenize(query)
        const inTexts = await Promise.all(found.map((snapshot) => textHits(snapshot, words, kind)))
        const hits = found.flatMap((snapshot, index) =>
          searchProject(snapshot, words, inTexts[index] ?? noTexts, now())
            .filter(
              (hit) =>
                (kind === undefined || hit.kind === kind) &&
                (sprint === undefined || hit.sprint === sprint) &&
                (status === undefined || hit.status === status),
            )
            .map((hit) => () => ({
              ...(name === undefined && { project: snapshot.project }),
              kind: hit.kind,
              ...hit.toResult(),
            })),
        )
        const { page, ...next } = paginate<Record<string, unknown>>(hits, { limit: 50, ...paging })
        const names = found.map((snapshot) => snapshot.project)
        return { results: page, total: hits.length, ...next, ...toStaleField(names) }
      },
    }),
    history,
  ]
}
