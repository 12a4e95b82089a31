import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Story, WorkIndex } from '../model.ts'
import { parseIndex } from './read.ts'
import { createYamlEditor } from './yaml-editor.ts'

const parsed = (text: string): WorkIndex => {
  const read = parseIndex(text)
  if (!read.ok) throw new Error(`${JSON.stringify(read.problems)}\n${text}`)
  return read.index
}

/**
 * A file as written by WorkSync: no indent before dashes, folded plain text, only the first
 * comment.
 */
const seed = `# yaml-language-server: $schema=./SCHEMA/work-flow-schema.json
version: 1
sprints:
- id: gcp-cicd
  title: GCP CI/CD foundation
  file: GCP-CICD.md
  status: active
  goal: Mirror the AWS OIDC pattern for every repository of the organisation, so that
    no key is kept anywhere
  themes:
  - gcp
  - devops
  stories:
  - id: STORY-1
    status: done
    notes: 'Done: pool created'
  - id: STORY-2
    status: planned
    notes: |
      Provider: github-provider
      # not a comment
- id: empty-one
  title: Later
  status: planned
  stories: []
backlog:
- id: sha-pinning
  theme: security
  summary: Pin actions by SHA
  status: todo
  related_sprints: []
history:
- date: '2026-02-20'
  summary: Completed STORY-1
  related_sprints:
  - gcp-cicd
`

/** A file as written by a person: indents, aligned values, comments, quotes, an unknown key. */
const handmade = `version: 2   # ours
next_story: 4
x_team: { name: core }

sprints:
  # the running one
  - id:     one
    title:  "A title"      # shown on the board
    status: active
    x_colour: blue
    stories:
      # first
      - { id: STORY-1, status: planned }

      - id: STORY-2        # second
        title: 'two'
        status: in_progress
        notes:
        depends_on: [STORY-1]  # because

      # third
      - status: planned
        id: STORY-3
    goal: comes after the stories
backlog: []   # nothing yet
history: []
`

const find = (index: WorkIndex, id: string): Story =>
  index.sprints.flatMap(({ stories }) => stories ?? []).find((story) => story.id === id) as Story

const withStory = (index: WorkIndex, id: string, change: Partial<Story>): WorkIndex => ({
  ...index,
  sprints: index.sprints.map((sprint) => ({
    ...sprint,
    ...(sprint.stories && {
      stories: sprint.stories.map((story) => (story.id === id ? { ...story, ...change } : story)),
    }),
  })),
})

function become(text: string, target: (index: WorkIndex) => WorkIndex): string {
  const index = parsed(text)
  const sheet = createYamlEditor(text, index)
  sheet.update(target(index))
  return sheet.text()
}

test.each([
  ['seed', seed],
  ['handmade', handmade],
  ['CRLF', seed.replaceAll('\n', '\r\n')],
  ['BOM', `\ufeff${seed}`],
])('W4 an unchanged text stays byte for byte: %s', (_, text) => {
  const index = parsed(text)
  const sheet = createYamlEditor(text, index)
  expect(sheet.text()).toBe(text)
  sheet.update(structuredClone(index))
  expect(sheet.text()).toBe(text)
})

test('W4 a status change changes one line', () => {
  const out = become(seed, (index) => withStory(index, 'STORY-2', { status: 'in_progress' }))
  expect(out).toBe(
    seed.replace('status: planned\n    notes: |', 'status: in_progress\n    notes: |'),
  )
})

test('W4 CRLF and BOM survive a change', () => {
  const text = `\ufeff${seed.replaceAll('\n', '\r\n')}`
  const out = become(text, (index) =>
    withStory(index, 'STORY-1', { status: 'dropped', notes: 'a\nb\n', rev: 3 }),
  )
  expect(out.startsWith('\ufeff# yaml')).toBe(true)
  expect(out.replaceAll('\r\n', '')).not.toContain('\n')
  expect(find(parsed(out), 'STORY-1')).toMatchObject({ status: 'dropped', notes: 'a\nb\n', rev: 3 })
})

test('W4 quotes, alignment and comments of changed and adjacent lines stay', () => {
  const out = become(handmade, (index) =>
    withStory(index, 'STORY-2', { title: "it's", notes: 'now', status: 'done' }),
  )
  expect(out).toContain(`      - id: STORY-2        # second
        title: 'it''s'
        status: done
        notes: now
        depends_on: [STORY-1]  # because

      # third
`)
  expect(out.replace(/ {6}- id: STORY-2[^]*?because\n/, '')).toBe(
    handmade.replace(/ {6}- id: STORY-2[^]*?because\n/, ''),
  )
})

test('W4 a field of a sprint with keys after its stories changes without other lines', () => {
  const out = become(handmade, (index) => ({
    ...index,
    sprints: index.sprints.map((sprint) => ({ ...sprint, title: 'Another', goal: 'new' })),
  }))
  expect(out).toBe(
    handmade.replace('"A title"', '"Another"').replace('comes after the stories', 'new'),
  )
})

test('W4 the first item of an empty list, the first story of a sprint and a new list are written', () => {
  const out = become(handmade, (index) => ({
    ...index,
    backlog: [{ id: 'b', summary: 'Later', status: 'todo' }],
    conflicts: [{ id: 'c', item: 'b', field: 'x', kind: 'same_field', at: 'now' }],
  }))
  expect(out).toContain('backlog: # nothing yet\n  - id: b\n    summary: Later\n')
  expect(out).toContain('conflicts:\n  - id: c\n')
  const story: Story = { id: 'STORY-9', status: 'planned' }
  const more = become(seed, (index) => ({
    ...index,
    sprints: index.sprints.map((sprint) =>
      sprint.id === 'empty-one' ? { ...sprint, stories: [story] } : sprint,
    ),
  }))
  expect(more).toBe(
    seed.replace('  stories: []\n', '  stories:\n    - id: STORY-9\n      status: planned\n'),
  )
})

test('W4 new history entries are added at the end that grows', () => {
  const entry = { date: '2026-03-01', summary: 'More' }
  const grown = (index: WorkIndex) => ({ ...index, history: [...index.history, entry] })
  expect(become(seed, grown)).toBe(`${seed}- date: '2026-03-01'\n  summary: More\n`)
  const newest = `${seed}- date: '2026-01-01'\n  summary: Older\n`
  expect(become(newest, grown)).toBe(
    newest.replace('history:\n', "history:\n- date: '2026-03-01'\n  summary: More\n"),
  )
})

test('W4 items are removed, moved and added without changing others', () => {
  const out = become(seed, (index) => {
    const [one, two] = index.sprints
    const [first, second] = one?.stories ?? []
    return {
      ...index,
      sprints: [
        { ...one, stories: [first] },
        { ...two, stories: [second] },
      ] as WorkIndex['sprints'],
      backlog: [],
    }
  })
  const again = parsed(out)
  expect(again.sprints.map(({ stories }) => stories?.map(({ id }) => id))).toEqual([
    ['STORY-1'],
    ['STORY-2'],
  ])
  expect(find(again, 'STORY-2').notes).toBe('Provider: github-provider\n# not a comment\n')
  expect(out).toContain('backlog: []\nhistory:\n')
  expect(out).toContain("    notes: 'Done: pool created'\n")
})

test('W4 adding or removing a sprint and its first story keeps other lines', () => {
  const two = { id: 'two', status: 'planned' as const }
  const story: Story = { id: 'STORY-4', status: 'planned' }
  const sheet = createYamlEditor(handmade, parsed(handmade))
  const [one] = parsed(handmade).sprints as [WorkIndex['sprints'][number]]
  const become = (sprints: WorkIndex['sprints'], next_story: number) => {
    sheet.update({ ...parsed(handmade), next_story, sprints })
    return sheet.text()
  }
  expect(become([one, two], 4)).toBe(
    handmade.replace('backlog: []', '  - id: two\n    status: planned\nbacklog: []'),
  )
  const lines = '  - id: two\n    status: planned\n    stories:\n      - id: STORY-4\n'
  expect(become([one, { ...two, stories: [story] }], 5)).toBe(
    handmade
      .replace('next_story: 4', 'next_story: 5')
      .replace('backlog: []', `${lines}        status: planned\nbacklog: []`),
  )
  expect(become([one], 5)).toBe(handmade.replace('next_story: 4', 'next_story: 5'))
})

test('W4 stories on one line are rewritten when they change and removed when deleted', () => {
  const text = 'sprints:\n  - id: a\n    status: active\n    stories: [{ id: s, status: done }]\n'
  const without = become(text, (index) => ({
    ...index,
    sprints: index.sprints.map(({ id, status }) => ({ id, status })),
  }))
  expect(parsed(without).sprints[0]?.stories).toEqual([])
  const changed = become(text, (index) => withStory(index, 's', { status: 'planned' }))
  expect(find(parsed(changed), 's').status).toBe('planned')
})

test.each([
  ['a: [', 1],
  ['sprints:\n  - id: a\n   status: x', 3],
  ['sprints:\n- id: a\n  status: running\n', 3],
  ['backlog:\n- id: a\n  summary: s\n  status: todo\n- id: a\n  summary: t\n  status: todo', 5],
  ['- just\n- a list\n', 1],
  ['version: 3', 1],
])('W6 invalid content is reported with its line: %j', (text, line) => {
  const read = parseIndex(text)
  expect(read.ok).toBe(false)
  expect(read.ok || read.problems[0]?.line).toBe(line)
})

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    'yes',
    'null',
    '~',
    '1',
    '1.5',
    '2026-11-15',
    '- a',
    '# b',
    "it's",
    'a: b',
    '{',
    '|',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc
    .array(fc.constantFrom('a', 'b c', '', ' d', '# e', '- f', 'g:'), { maxLength: 5 })
    .map((lines) => lines.join('\n')),
)
const value = fc.oneof(
  word,
  fc.integer({ min: -5, max: 500 }),
  fc.boolean(),
  fc.array(word, { maxLength: 3 }),
  fc.array(fc.record({ text: word, done: fc.boolean() }), { maxLength: 2 }),
)
const extra = fc.dictionary(fc.constantFrom('x_a', 'x_b', 'x_c', 'x_d'), value, {
  maxKeys: 3,
  noNullPrototype: true,
})
const storyOf = (id: string) =>
  fc
    .tuple(fc.constantFrom('planned', 'done', 'blocked'), extra)
    .map(([status, more]) => ({ id, status, ...more }))
const itemOf = (id: string) =>
  fc
    .tuple(word, extra)
    .map(([summary, more]) => ({ id, summary, status: 'todo' as const, ...more }))

const subsetOf = <T>(ids: readonly string[], of: (id: string) => fc.Arbitrary<T>) =>
  fc.subarray([...ids]).chain((some) => fc.tuple(...some.map(of)))

const indexArbitrary: fc.Arbitrary<WorkIndex> = fc.record({
  version: fc.constant(2),
  sprints: fc
    .tuple(
      subsetOf(['STORY-1', 'STORY-2', 'STORY-3', 'STORY-4'], storyOf),
      subsetOf(['STORY-5', 'STORY-6', 'STORY-7'], storyOf),
      extra,
    )
    .map(([a, b, more]) => [
      { id: 'one', status: 'active' as const, ...more, stories: a },
      { id: 'two', status: 'planned' as const, stories: b },
    ]),
  backlog: subsetOf(['p', 'q', 'r'], itemOf),
  history: fc.array(
    fc.record({ date: fc.constantFrom('2026-01-01', '2026-02-02'), summary: word }),
    {
      maxLength: 3,
    },
  ),
  conflicts: fc.constant([]),
})

/** Compares without list order; next_story is never removed. */
const sorted = (index: WorkIndex) => {
  const keyOf = (row: { id?: string; date?: unknown; summary?: unknown }) =>
    row.id ?? JSON.stringify([row.date, row.summary])
  const by = (a: object, b: object) => (keyOf(a) < keyOf(b) ? -1 : 1)
  return {
    version: index.version,
    sprints: index.sprints.map(({ stories, ...own }) => ({
      ...own,
      stories: [...(stories ?? [])].sort(by),
    })),
    backlog: [...index.backlog].sort(by),
    history: [...index.history].sort(by),
  }
}

test('W4 the editor writes any sequence of changes to any text', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(seed, handmade, 'version: 2\n', ''),
      fc.array(indexArbitrary, { minLength: 1, maxLength: 4 }),
      (text, targets) => {
        const sheet = createYamlEditor(text, parsed(text))
        for (const target of targets) {
          sheet.update(target)
          expect(sorted(parsed(sheet.text()))).toEqual(sorted(target))
        }
      },
    ),
  )
})

const sprintOf = (id: string) =>
  fc
    .tuple(extra, subsetOf([`${id}-1`, `${id}-2`], storyOf))
    .map(([more, stories]) => ({ id, status: 'active' as const, ...more, stories }))

const inTurn = (index: ReturnType<typeof sorted>) => ({
  ...index,
  sprints: index.sprints.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
})

test('W4 the editor writes any sequence of added and removed sprints', () => {
  const plan = fc.record({
    sprints: subsetOf(['gcp-cicd', 'empty-one', 'one', 'x', 'y'], sprintOf),
    next_story: fc.integer({ min: 1, max: 99 }),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(seed, handmade, seed.trimEnd().replaceAll('\n', '\r\n')),
      fc.array(plan, { minLength: 1, maxLength: 5 }),
      (text, plans) => {
        const index = parsed(text)
        const sheet = createYamlEditor(text, index)
        for (const one of plans) {
          const target = { ...index, ...one } as WorkIndex
          sheet.update(target)
          const parsedIndex = parsed(sheet.text())
          expect(inTurn(sorted(parsedIndex))).toEqual(inTurn(sorted(target)))
          expect(parsedIndex.next_story).toBe(one.next_story)
        }
      },
    ),
  )
})

test('W4 an unchanged item keeps its lines in any sequence of changes', () => {
  fc.assert(
    fc.property(indexArbitrary, (target) => {
      const index = parsed(handmade)
      const kept = find(index, 'STORY-2')
      const out = become(handmade, () => ({
        ...target,
        sprints: [
          { ...index.sprints[0], stories: [kept, ...(target.sprints[1]?.stories ?? [])] },
        ] as WorkIndex['sprints'],
      }))
      expect(out).toContain(`      - id: STORY-2        # second
        title: 'two'
        status: in_progress
        notes:
        depends_on: [STORY-1]  # because
`)
      for (const comment of ['# ours', '# the running one', '# shown on the board', '# third'])
        expect(out).toContain(comment)
    }),
  )
})
