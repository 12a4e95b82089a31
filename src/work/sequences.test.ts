import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createModel, steps } from '../../test/work-model.ts'
import { parsed } from '../../test/work.ts'
import { createProjectCache } from './project-cache.ts'
import { createWorld, sales, sqliteEngine, support } from '../../test/work/work.fixture.ts'
import type { Desk, World } from '../../test/work/work.fixture.ts'
import type { Story, WorkIndex } from './model.ts'
import { createWorkStore } from './store.ts'

type Model = ReturnType<typeof createModel>

/** Converts an index to the form of the model. */
function toModelForm(index: WorkIndex) {
  const stories = index.sprints.flatMap(({ id: sprint, stories: list }) =>
    (list ?? []).map((story): [string, Story & { sprint: string }] => [
      story.id,
      { ...story, sprint },
    ]),
  )
  return {
    next: index.next_story,
    sprints: Object.fromEntries(index.sprints.map(({ id, status }) => [id, status])),
    stories: Object.fromEntries(
      stories.map(([id, story]) => [
        id,
        {
          sprint: story.sprint,
          title: story.title,
          status: story.status,
          notes: story.notes,
          holder: story.lease?.agent,
          comments: story.comments?.length ?? 0,
          from: story.from_backlog,
          rev: story.rev,
        },
      ]),
    ),
    backlog: Object.fromEntries(
      index.backlog.map(({ id, summary, status, promoted_to: promoted, rev }) => [
        id,
        { summary, status, promoted, rev },
      ]),
    ),
    history: index.history.map(({ summary }) => summary).toSorted(),
    conflicts: index.conflicts,
  }
}

const getExpected = (model: Model) => ({
  next: model.next(),
  sprints: Object.fromEntries(model.sprints),
  stories: Object.fromEntries(model.stories),
  backlog: Object.fromEntries(model.backlog),
  history: model.history.toSorted(),
  conflicts: [],
})

/** Changes the title of a story in the file as a person. */
async function editTitle(desk: Desk, project: string, model: Model, id: string, title: string) {
  const story = model.stories.get(id)
  const text = await desk.text(project)
  const block = new RegExp(`^ {6}- id: ${id}\n(?: {8}.*\n|\n)*`, 'm').exec(text)?.[0]
  if (!story || block === undefined || story.title === title) return
  const line = `        title: ${JSON.stringify(title)}\n`
  const rest = block.replace(/^ {8}title:.*\n(?: {10}.*\n|\n)*/m, '')
  const next = rest.replace('\n', () => `\n${line}`)
  desk.edit(project, () => text.replace(block, () => next), text)
  story.title = title
  story.rev++
}

test('W7 W10 W12 W13 W14 W15 W16 W20 for any sequence of calls memory, store and file equal the model', async () => {
  const world: World = await createWorld(sqliteEngine)
  let desk = await world.start()
  let count = 0
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const project = `p${++count}`
      await desk.ask('register_project', { project })
      const model = createModel()
      for (const step of list) {
        if ('call' in step) {
          const { call: tool, args, by } = step
          const expected = model.does(tool, args, by)
          const caller = by === 'sales' ? sales : support
          const refused = await desk.ask(tool, { project, ...args }, caller).then(
            () => undefined,
            (error: { code?: string; message: string }) => error.code ?? error.message,
          )
          expect(refused, `${tool} ${JSON.stringify(args)}`).toBe(expected)
        } else if ('title' in step) await editTitle(desk, project, model, step.id, step.title)
        else if (step.event === 'flush') await desk.text(project)
        else {
          await desk.stop()
          desk = await world.start()
        }
      }
      const snapshot = await desk.work.snapshots.current(project)
      expect(toModelForm(snapshot.index())).toEqual(getExpected(model))
      // A new cache reads everything from the store.
      const fresh = await createProjectCache(desk.db, createWorkStore('sqlite')).current(project)
      expect(toModelForm(fresh.index())).toEqual(getExpected(model))
      expect(toModelForm(parsed(await desk.text(project)))).toEqual(getExpected(model))
    }),
    { numRuns: 25 },
  )
  await desk.stop()
})
