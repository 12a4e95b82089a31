import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storyStatuses } from '../../choices.ts'
import { displayWidth as widthOf, lineText } from '../../inbox/lines.ts'
import {
  boardWith,
  four,
  keys,
  loaded,
  play,
  press,
  buildStory,
  buildFullStory,
} from '../../../../test/cli/work/board/board.fixture.ts'
import type { Event } from './state.ts'
import { render } from './view.ts'

const linesOf = (state: Parameters<typeof render>[0]) => render(state).map(lineText)

describe('the board', () => {
  test('C6 the board has one column per status with its story count', () => {
    const lines = linesOf(boardWith(four))
    expect(lines[0]).toContain('shop · auth Auth rework · 1 of 3 done')
    expect(lines[2]).toMatch(/ planned 2 +in progress 1 +blocked 0 +in review 0 +done 1/)
    expect(lines[3]).toMatch(/^❯STORY-1 +STORY-3 @bot +STORY-4/)
    expect(lines.join('\n')).not.toContain('dropped')
    const dropped = [...four, buildStory('STORY-5', { status: 'dropped' })]
    expect(linesOf(boardWith(dropped))[2]).toContain('dropped 1')
  })

  test('C6 the selected story is shown in full', () => {
    const long = buildStory('STORY-1', { title: 'A title that fits no column', priority: 'high' })
    expect(linesOf(boardWith([long])).join('\n')).toContain(
      'planned A title that fits no column · high priority',
    )
    const state = press(boardWith(four), 'l').state
    expect(linesOf(state).join('\n')).toContain('bot, 12m left')
  })

  test('C6 a narrow window shows the columns around the selection', () => {
    const state = boardWith(four, { rows: 24, columns: 45 })
    expect(linesOf(state)[2]).toMatch(/planned.*in progress.*blocked/)
    expect(linesOf(press(state, 'l', 'l').state)[2]).toMatch(/blocked.*in review.*done/)
  })

  test('C6 a long column scrolls by pages and always shows the selection', () => {
    const many = Array.from({ length: 40 }, (_, at) => buildStory(`STORY-${at + 1}`))
    const state = press(boardWith(many), 'G').state
    expect(linesOf(state).join('\n')).toContain('❯STORY-40')
  })

  test('C6 a story is shown with its dependencies, comments and both sides of a conflict', () => {
    const [first = buildStory('x')] = four
    const state = play(boardWith(four, { rows: 60, columns: 80 }), ...keys(['enter']), {
      event: 'read',
      story: buildFullStory(first),
    }).state
    const text = linesOf(state).join('\n')
    for (const part of [
      'blocked by STORY-9',
      '[x] it works',
      '[ ] people know',
      'current: "a"',
      'file: "b"',
      'Why?',
      'begun',
    ])
      expect(text).toContain(part)
  })

  test('A13 a title or name cannot move the cursor or spoof other text', () => {
    const bad = buildStory('STORY-1', { title: 'a\u001b[2Jb\u202e', claimed_by: 'x\ny', until: '' })
    const lines = linesOf(boardWith([bad]))
    expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(lines.join('')).toContain('aU+001B')
  })

  test('W6 the header reports an invalid file', () => {
    const { state } = play(boardWith(four), loaded(four, { isStale: true }))
    expect(linesOf(state)[0]).toContain('file invalid')
  })
})

const story = fc.record({
  id: fc.string({ minLength: 1, maxLength: 30 }),
  title: fc.string({ unit: 'grapheme', maxLength: 80 }),
  status: fc.constantFrom(...storyStatuses),
})
const names = 'j k h l > < m d c a s p / ? t x 3 G g enter escape space backspace'.split(' ')
const key = fc.constantFrom(...names, 'paste-start', 'paste-end')

test('C6 for any stories and keys the screen has the size of the window', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(story, { selector: ({ id }) => id, maxLength: 30 }),
      fc.array(key, { maxLength: 30 }),
      fc.record({
        rows: fc.integer({ min: 1, max: 50 }),
        columns: fc.integer({ min: 1, max: 160 }),
      }),
      fc.boolean(),
      (stories, pressed, size, isBad) => {
        const event: Event = {
          event: 'message',
          message: { text: 'Not possible. '.repeat(20), tone: isBad ? 'bad' : 'calm' },
        }
        const given = stories.map((one) => buildStory(one.id, one))
        const { state } = play(boardWith(given, size), ...keys(pressed), event)
        const lines = linesOf(state)
        expect(lines).toHaveLength(size.rows)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(size.columns)
      },
    ),
  )
})
