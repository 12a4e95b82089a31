import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestLedger } from '../../../test/ledger.ts'
import { workMigrations } from '../migrations.ts'
import type { Conflict, WorkIndex } from '../model.ts'
import { nextStoryNumber } from '../rules.ts'
import {
  listIds,
  item,
  openPlan as openPlanIn,
  normalize,
  story,
} from '../../../test/work/edited-plan.fixture.ts'
import { titled, withStories, without } from '../../../test/work/edited-plan.fixture.ts'
import type { Plan } from '../../../test/work/edited-plan.fixture.ts'

let ledger: Awaited<ReturnType<typeof openTestLedger>>
const openPlan = () => openPlanIn(ledger.db)
beforeAll(async () => {
  ledger = await openTestLedger(workMigrations)
})
afterAll(() => ledger.close())

type Edit = (index: WorkIndex, versions: readonly WorkIndex[]) => WorkIndex

/** Steps of a person: an edit of the current file, or an earlier version. */
const id = fc.constantFrom('STORY-1', 'STORY-2', 'STORY-3', 'later', 'never', 'more', 'a-0')
const word = fc.constantFrom('x', 'y')
const edit: fc.Arbitrary<Edit> = fc.oneof(
  id.map((one): Edit => without(one)),
  fc.tuple(id, word).map(([one, title]): Edit => titled(one, title)),
  id.map(
    (one): Edit =>
      (index) =>
        listIds(index).includes(one)
          ? index
          : one.startsWith('STORY')
            ? withStories(index, (list) => [...list, story(one)])
            : { ...index, backlog: [...index.backlog, item(one)] },
  ),
  fc.nat().map(
    (n): Edit =>
      (index, versions) =>
        versions[n % versions.length] ?? index,
  ),
)
const saves = fc.array(fc.array(edit, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 5,
})

/** Steps of an agent, each with a unique word. */
type Deed = { readonly does: (plan: Plan, n: number) => Promise<void> }
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.constantFrom('STORY-1', 'STORY-2').map((one) => ({
    does: async (plan: Plan, n: number) => {
      if (listIds(await plan.now()).includes(one))
        await plan.agent('story', one, { [`x_${n}`]: 'agent' })
    },
  })),
  fc.constantFrom('story', 'backlog', 'history').map((kind) => ({
    does: async (plan: Plan, n: number) => {
      if (kind === 'history') await plan.remember(`agent ${n}`)
      else if (kind === 'backlog') await plan.agent('backlog', `a-${n}`, item(`a-${n}`))
      else {
        const number = nextStoryNumber(1, await plan.now())
        await plan.agent('story', `STORY-${number}`, story(`STORY-${number}`, { by_n: n }))
      }
    },
  })),
)
const deeds = fc.array(deed, { maxLength: 4 })

test('W5 without agent writes the work index equals what the person saved', async () => {
  await fc.assert(
    fc.asyncProperty(deeds, saves, fc.array(fc.boolean()), async (before, list, isSlow) => {
      const plan = await openPlan()
      for (const [n, one] of before.entries()) await one.does(plan, n)
      // A person who saved the file knows its content.
      const versions = [await plan.file()]
      await plan.save(titled('STORY-1', 'Seen')(versions[0] as WorkIndex))
      versions.push(await plan.file())
      for (const [at, edits] of list.entries()) {
        // Between two saves a flush may or may not happen.
        const text = edits.reduce<WorkIndex>(
          (index, change) => change(index, versions),
          versions.at(-1) as WorkIndex,
        )
        expect(await plan.save(text)).toEqual([])
        expect(normalize(await plan.now())).toEqual(normalize(text))
        versions.push(isSlow[at] === true ? await plan.file() : text)
      }
    }),
    { numRuns: 60 },
  )
})

type Case = Readonly<Record<'loaded' | 'ours' | 'text' | 'now', WorkIndex>> & {
  readonly newConflicts: readonly Conflict[]
}

/** Lists edits of either side that are neither in the work index nor in a conflict. */
function findLostEdits({ loaded, ours, text, now, newConflicts }: Case): string[] {
  const lost: string[] = []
  const check = (one: string, isWell: boolean, what: string) => {
    const isReported = newConflicts.some(
      ({ item: of, items, kind }) =>
        of === one || items?.includes(one) === true || (kind === 'possible_revert' && !items),
    )
    if (!isWell && !isReported) lost.push(`${one} ${what}`)
  }
  const all = (index: WorkIndex): ReadonlyMap<string, Readonly<Record<string, unknown>>> => {
    const { stories, backlog } = normalize(index)
    return new Map(Object.entries({ ...stories, ...backlog }))
  }
  const [was, mine, yours, is] = [all(loaded), all(ours), all(text), all(now)]
  for (const one of new Set([...was.keys(), ...mine.keys(), ...yours.keys()])) {
    const [b, o, t, i] = [was.get(one), mine.get(one), yours.get(one), is.get(one)]
    if ((o && !b) || (t && !b)) check(one, i !== undefined, 'was added')
    if (b && !t) check(one, i === undefined, 'was deleted by hand')
    for (const field of new Set([...Object.keys(o ?? {}), ...Object.keys(t ?? {})])) {
      const isSaid = (side: typeof o) => side?.[field] === i?.[field]
      if (o && o[field] !== b?.[field]) check(one, isSaid(o), `${field} of an agent`)
      if (t && t[field] !== b?.[field]) check(one, isSaid(t), `${field} by hand`)
    }
  }
  const [had, has, wrote] = [
    normalize(loaded).history,
    normalize(now).history,
    normalize(text).history,
  ]
  for (const one of normalize(ours).history)
    if (!had.includes(one)) check('history', has.includes(one), `${one} of an agent`)
  for (const one of had)
    if (!wrote.includes(one)) check('history', !has.includes(one), `${one} was deleted by hand`)
  return lost
}

test('W5 after agent writes neither side loses an edit without a conflict', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit, { maxLength: 2 }),
      deeds,
      deeds,
      fc.array(edit, { maxLength: 3 }),
      fc.boolean(),
      async (first, before, since, edits, isFile) => {
        const plan = await openPlan()
        const made = (list: readonly Edit[], from: WorkIndex) =>
          list.reduce<WorkIndex>((index, change) => change(index, [from]), from)
        await plan.save(made(first, await plan.file()))
        for (const [n, one] of before.entries()) await one.does(plan, n)
        const loaded = await plan.file()
        for (const [n, one] of since.entries()) {
          await one.does(plan, 100 + n)
          await plan.file()
        }
        const ours = await plan.now()
        const text = made(edits, loaded)
        const newConflicts = await plan.save(text, isFile)
        const now = await plan.now()
        expect(findLostEdits({ loaded, ours, text, now, newConflicts })).toEqual([])
      },
    ),
    { numRuns: 150 },
  )
})
