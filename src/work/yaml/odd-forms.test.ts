import { expect, test } from 'vitest'
import type { Story, WorkIndex } from '../model.ts'
import { emitItem } from './emit.ts'
import { isEqualIndex, parseIndex, parseIndexBytes } from './read.ts'
import { createYamlEditor } from './yaml-editor.ts'

const parsed = (text: string): WorkIndex => {
  const read = parseIndex(text)
  if (!read.ok) throw new Error(`${JSON.stringify(read.problems)}\n${text}`)
  return read.index
}

function become(text: string, change: (index: WorkIndex) => WorkIndex): string {
  const index = parsed(text)
  const target = change(structuredClone(index))
  const sheet = createYamlEditor(text, index)
  sheet.update(target)
  const out = sheet.text()
  expect([...sheet.parts()].join('')).toBe(out)
  expect(isEqualIndex(parsed(out), target)).toBe(true)
  return out
}

const inStories = (
  index: WorkIndex,
  change: (stories: readonly Story[]) => Story[],
): WorkIndex => ({
  ...index,
  sprints: index.sprints.map((sprint) => ({ ...sprint, stories: change(sprint.stories ?? []) })),
})

const setFirst = (fields: Partial<Story>) => (index: WorkIndex) =>
  inStories(index, ([first, ...more]) => [{ ...first, ...fields } as Story, ...more])

const withoutFirst = (index: WorkIndex) => inStories(index, ([, ...more]) => more)

const plan = (stories: string, end = '') => `version: 2
next_story: 9
sprints:
  - id: s1
    status: active # running
    stories:
${stories}${end}`

const anchors = plan(`      - id: STORY-1
        title: &t one
        status: planned
        paths: &p [src/a]
      # before two
      - id: STORY-2
        title: *t
        status: planned
        paths: *p # the same
      - id: STORY-3
        title: 'three' # agreed with Ann
        status: planned
`)

test.each([
  ['its value changes', setFirst({ paths: ['src/b'] })],
  ['its item goes', withoutFirst],
])('W4 aliased values are expanded if %s', (_, change) => {
  const out = become(anchors, change)
  expect(out).toContain('        title: one\n')
  expect(out).toContain('        paths: [src/a] # the same\n')
  expect(out).toContain('      # before two\n')
  expect(out).toContain("        title: 'three' # agreed with Ann\n")
  expect(out).not.toMatch(/[&*][tp]\b/)
})

test('W4 unchanged anchors stay', () => {
  expect(become(anchors, setFirst({ status: 'done' }))).toBe(
    anchors.replace('status: planned', 'status: done'),
  )
})

test('W4 nested anchors, repeated anchors and merge keys are expanded to their values', () => {
  const text = `version: 2
defaults: &d { priority: high, paths: &p [a, 'b, c'] }
sprints:
  - id: s1
    status: active
    stories:
      - <<: *d
        id: STORY-1
        status: &d planned
      - id: STORY-2
        status: *d
        notes: &n |
          two
          lines
        paths: [*n, x]
`
  become(text, setFirst({ status: 'done' }))
  become(text, setFirst({ priority: 'low' }))
  const out = become(text, (index) => inStories(index, ([first]) => [first as Story]))
  expect(out).toContain('defaults:')
})

test('W4 an explicit document end stays at the end', () => {
  const story = '      - id: STORY-1\n        title: one\n        status: planned\n'
  const text = plan(story, '...\n# after it\n')
  const out = become(text, (index) => ({
    ...setFirst({ priority: 'high' })(index),
    conflicts: [{ id: 'c', item: 'x', field: 'f', kind: 'same_field', at: 'now' }],
  }))
  expect(out.endsWith('at: now\n...\n# after it\n')).toBe(true)
})

test('W4 an item with `? key` keys is rewritten, its neighbor is not', () => {
  const other = "      - id: STORY-2\n        title: 'two' # keep\n        status: planned\n"
  const text = plan(
    `      - ? id\n        : STORY-1\n        ? status\n        : planned\n${other}`,
  )
  expect(become(text, setFirst({ notes: 'more' }))).toContain(other)
})

test.each([
  ['JSON', (value: object) => `${JSON.stringify(value, null, 2)}\n`],
  [
    'JSON without indent',
    (value: object) => JSON.stringify(value, null, 1).replaceAll(/^ +/gm, ''),
  ],
  ['braces', (value: object) => `# ours\n${JSON.stringify(value)} # end\n`],
])('W7 a work index in %s is written as a block with its first change', (_, write) => {
  const story = { id: 'STORY-1', title: 'one', status: 'planned' }
  const text = write({
    version: 2,
    x_team: { name: 'core' },
    sprints: [{ id: 's1', status: 'active', stories: [story] }],
    backlog: [],
    history: [],
  })
  expect(become(text, (index) => index)).toBe(text)
  const out = become(text, setFirst({ status: 'done' }))
  expect(out).toContain('x_team: {name: core}\n')
  expect(out).toContain('      - id: STORY-1\n        title: one\n        status: done\n')
  expect(out.startsWith('# ours\n')).toBe(text.startsWith('#'))
})

test('W4 an indented work index gets new lists at the indent of its keys', () => {
  const text = '  sprints: [] # none\n  backlog: []\n'
  const out = become(text, (index) => ({
    ...index,
    version: 2,
    next_story: 4,
    history: [{ date: '2026-01-01', summary: 'Began' }],
  }))
  expect(out).toBe(
    `  version: 2\n  next_story: 4\n${text}  history:\n    - date: '2026-01-01'\n      summary: Began\n`,
  )
})

test('W4 new top-level keys come after a document start marker', () => {
  const text = '# ours\n---\nbacklog: []\n'
  const out = become(text, (index) => ({ ...index, version: 2, next_story: 3 }))
  expect(out).toBe('# ours\n---\nversion: 2\nnext_story: 3\nbacklog: []\n')
})

test.each([
  ['a comment', '      - # about one\n        id: STORY-1\n'],
  ['a comment on the next line', '      -\n        # about one\n\n        id: STORY-1\n'],
  ['an anchor', '      - &one\n        id: STORY-1\n'],
  ['a tag and a comment', '      - !!map # about one\n        id: STORY-1\n'],
])('W4 an item whose dash is followed by %s stays unchanged', (_, head) => {
  const text = plan(
    `${head}        title: "one" # mine
        status: planned
      # before two
      - id: STORY-2
        title: 'two' # do not touch, agreed with Ann
        status: planned
`,
    'backlog: []\n',
  )
  expect(become(text, setFirst({ status: 'done' }))).toBe(
    text.replace('status: planned', 'status: done'),
  )
  expect(become(text, withoutFirst)).toBe(
    text.replace(/ {6}-[^]*?# mine\n {8}status: planned\n/, ''),
  )
})

test('W4 comments between and after items stay when the last item is removed', () => {
  const text = plan(
    `      # first
      - id: STORY-1
        status: planned
      # - id: STORY-9
      #   title: off
`,
    '  # end of sprints\n# bottom\n',
  )
  const out = become(text, withoutFirst)
  expect(out).toBe(
    text
      .replace('stories:', 'stories: []')
      .replace('      - id: STORY-1\n        status: planned\n', ''),
  )
  expect(become(text, (index) => ({ ...index, sprints: [] }))).toBe(
    'version: 2\nnext_story: 9\nsprints: []\n  # end of sprints\n# bottom\n',
  )
})

test.each(['x', '漢', 'a\n'])(
  'W4 %j repeated three million times is written and read back',
  (words) => {
    const long = words.repeat(Math.ceil(3_000_000 / words.length))
    for (const item of [
      { id: 'a', summary: long, status: 'todo' },
      { id: 'a', summary: 's', status: 'todo', z: { ours: [long] } },
    ])
      expect(parsed(`backlog:\n${emitItem(item, 2, '\n')}`).backlog[0]).toEqual(item)
  },
)

test('W6 the first invalid UTF-8 byte is reported with line and column', () => {
  const text = 'version: 2\n# a mark \ufffd, ä\nbacklog: [] # gr'
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from('ößer\n', 'latin1')])
  expect(parseIndexBytes(bytes)).toEqual({
    ok: false,
    problems: [{ line: 3, column: 17, message: 'Not valid UTF-8.' }],
  })
  expect(parseIndexBytes(Buffer.from(text)).ok).toBe(true)
})
