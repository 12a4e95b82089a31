import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  detailOf,
  itemOf,
  keys,
  loaded,
  play,
  screenWith,
  start,
} from '../../../test/cli/inbox/inbox.fixture.ts'
import type { Played } from '../../../test/cli/inbox/inbox.fixture.ts'
import { initialState, visibleItems } from './state.ts'
import type { Effect, State } from './state.ts'

/** As keys, one by one. */
const typed = (text: string): string[] => Array.from(text)

const three = ['c', 'b', 'a'].map((id) => itemOf(id))
const press = (state: State, ...names: string[]): Played => play(state, ...keys(names))
const decisions = (effects: readonly Effect[]) =>
  effects.filter(({ act }) => act === 'decide' || act === 'resolve')
const approvedAs = (id: string, status = 'approved') => ({
  event: 'decided' as const,
  outcome: { id, status, trust: { from: 0.3, to: 0.32 } },
  now: start,
})

describe('moving', () => {
  test('K6 j and k move the hand and stop at the ends', () => {
    const state = screenWith(three)
    const at = (...names: string[]) => press(state, ...names).state.selected
    expect([at(), at('j'), at('j', 'j', 'j'), at('j', 'k', 'k'), at('G'), at('G', 'g')]).toEqual([
      'c',
      'b',
      'a',
      'c',
      'a',
      'c',
    ])
  })

  test('K6 what arrives above does not move the hand to something else', () => {
    const state = press(screenWith(three), 'j').state
    const later = play(state, loaded([itemOf('e'), itemOf('d'), ...three])).state
    expect(later.selected).toBe('b')
    expect(decisions(press(later, 'a').effects)).toMatchObject([{ id: 'b' }])
  })

  test('A5, K6 what somebody else decided stays under the hand, and says so', () => {
    const state = screenWith(three)
    const taken = itemOf('c', { status: 'rejected', decided_by: 'bea' })
    const later = play(state, loaded([taken, ...three.slice(1)])).state
    const { state: after, effects } = press(later, 'a')
    expect(after.selected).toBe('c')
    expect(after.message?.text).toBe('Nothing to decide: rejected by bea.')
    expect(decisions(effects)).toEqual([])
  })

  test('K6 at the end of what was read more is asked for', () => {
    const event = { event: 'loaded', items: three, total: 900, isMore: true, filter: '' } as const
    const { state } = play(initialState({ rows: 24, columns: 80 }, start), event)
    const { state: after, effects } = press(state, 'G')
    expect(after.limit).toBe(400)
    expect(effects).toEqual([{ act: 'load' }])
  })

  test('K6 Enter reads and leaves, and what changed meanwhile is read again', () => {
    const { state, effects } = press(screenWith(three), 'enter')
    expect(state.view).toBe('detail')
    expect(effects).toEqual([{ act: 'read', id: 'c' }])
    const read = play(state, { event: 'read', detail: detailOf(itemOf('c')) }).state
    expect(play(read, loaded(three)).effects).toEqual([])
    const changed = [itemOf('c', { status: 'approved' }), ...three.slice(1)]
    expect(play(read, loaded(changed)).effects).toEqual([{ act: 'read', id: 'c' }])
    expect(press(read, 'n').effects).toEqual([{ act: 'read', id: 'b' }])
    expect(press(read, 'escape').state.view).toBe('list')
    expect(press(read, 'q').effects).toEqual([])
  })

  test('K6 scrolling ends with the text, in a window of any size', () => {
    const reading = press(screenWith(three, { rows: 10, columns: 80 }), 'enter').state
    const read = play(reading, { event: 'read', detail: detailOf(itemOf('c')) }).state
    const bottom = press(read, 'G').state
    expect(bottom.scroll).toBeGreaterThan(0)
    expect(press(bottom, 'j', 'j').state.scroll).toBe(bottom.scroll)
    const size = { rows: 100, columns: 80 }
    expect(play(bottom, { event: 'resized', size }).state.scroll).toBe(0)
  })
})

describe('deciding', () => {
  test('K6 a approves, the hand goes on, and the effect on trust is said', () => {
    const { state, effects } = press(screenWith(three), 'a')
    expect(effects).toEqual([{ act: 'decide', id: 'c', decision: 'approve' }])
    const after = play(state, approvedAs('c')).state
    expect(after.message?.text).toBe('Approved. Trust 0.30 → 0.32.')
    expect(after.selected).toBe('b')
    // A page that was read before the decision brings nothing back.
    expect(visibleItems(play(after, loaded(three)).state).map(({ id }) => id)).toEqual(['b', 'a'])
  })

  test('K6 a key held down decides once', () => {
    const { state } = press(screenWith(three), 'a')
    expect(decisions(press(state, 'a', 'a').effects)).toEqual([])
    let after = play(state, approvedAs('c')).state
    for (let at = 30; at < 3000; at += 30) {
      const held = play(after, ...keys(['a'], start + at))
      expect(decisions(held.effects)).toEqual([])
      after = held.state
    }
    expect(decisions(play(after, ...keys(['a'], start + 3500)).effects)).toMatchObject([
      { id: 'b' },
    ])
  })

  test('B4 denying a proposal asks what was wrong, how serious it is, and why', () => {
    const asked = press(screenWith(three), 'd')
    expect(asked.effects).toEqual([{ act: 'read', id: 'c' }])
    const { effects } = press(
      asked.state,
      'j',
      'enter',
      'enter',
      ...typed('no, wait'),
      'backspace',
      'enter',
    )
    expect(effects).toEqual([
      {
        act: 'decide',
        id: 'c',
        decision: 'reject',
        reason: 'no, wai',
        override: { type: 'missing_context', severity: 'medium' },
      },
    ])
    const quick = press(asked.state, '1', '4', 'enter')
    expect(decisions(quick.effects)).toMatchObject([
      { override: { type: 'agent_wrong', severity: 'critical' } },
    ])
  })

  test('B4 denying a call asks only why, and Esc decides nothing', () => {
    const { state } = press(screenWith([itemOf('c', { kind: 'call' })]), 'd')
    expect(press(state, 'enter').effects).toEqual([{ act: 'decide', id: 'c', decision: 'reject' }])
    const left = press(state, ...typed('because'), 'escape')
    expect(left.effects).toEqual([])
    expect(left.state.prompt).toBeUndefined()
  })

  test('Y4 permission to work in a domain is given under a policy', () => {
    const { state, effects } = press(screenWith([itemOf('c', { kind: 'permission' })]), 'a')
    expect(effects).toEqual([{ act: 'policies', id: 'c' }])
    const event = { event: 'policies', id: 'c', options: ['strict', 'loose'] } as const
    const { state: asked } = play(state, { ...event, options: [...event.options] })
    expect(press(asked, '2').effects).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', policy: 'loose' },
    ])
    expect(press(asked, '3').effects).toEqual([])
  })

  test('B3 what was edited is approved only with a yes', () => {
    const { state, effects } = press(screenWith(three), 'e')
    expect(effects).toEqual([{ act: 'edit', id: 'c' }])
    const changed = play(state, { event: 'edited', id: 'c', change: { stage: 'lost' } }).state
    expect(press(changed, 'enter', 'a').effects).toEqual([])
    expect(press(changed, 'n', 'y').effects).toEqual([])
    expect(press(changed, 'y').effects).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', change: { stage: 'lost' } },
    ])
    const check = screenWith([itemOf('c', { kind: 'spot_check' })])
    expect(press(check, 'e').state.message?.text).toContain('Only proposals and calls')
  })

  test('C2 z takes back what is held: the one under the hand, or the last', () => {
    const { state } = press(screenWith(three), 'a')
    const outcome = { id: 'c', status: 'held', until: '2026-03-02T10:00:08Z' }
    const held = play(state, { event: 'decided', outcome, now: start }).state
    expect(held.message?.text).toBe('Held: it counts in 8s. z takes it back.')
    expect(held.selected).toBe('b')
    const { state: undoing, effects } = press(held, 'z')
    expect(effects).toEqual([{ act: 'undo', id: 'c' }])
    const event = { event: 'undone', outcome: { id: 'c', status: 'pending' } } as const
    const undone = play(undoing, event).state
    expect(undone.selected).toBe('c')
    expect(press(undone, 'z').state.message?.text).toContain('Nothing is held')
  })

  test('K6 a decision that fails is said, and nothing is lost from the list', () => {
    const { state } = press(screenWith(three), 'a')
    const error = { code: 'already_decided', message: 'not found or already decided' }
    const outcome = { id: 'c', status: 'error', error }
    const after = play(state, { event: 'decided', outcome, now: start })
    expect(after.state.message).toEqual({ text: error.message, tone: 'bad' })
    expect(visibleItems(after.state)).toHaveLength(3)
    expect(after.effects).toEqual([{ act: 'load' }])
  })
})

describe('answering', () => {
  const handoff = itemOf('c', { kind: 'handoff', expires_at: null })
  const handed = screenWith([handoff, ...three.slice(1)])

  test('H2, K6 r asks for the answer, then for instructions, and sends both', () => {
    const answered = press(handed, 'r', ...typed('Done'), 'enter')
    expect(answered.effects).toEqual([])
    expect(press(answered.state, ...typed('Go on'), 'enter').effects).toEqual([
      { act: 'resolve', id: 'c', resolution: 'Done', instructions: 'Go on' },
    ])
    expect(press(answered.state, 'enter').effects).toEqual([
      { act: 'resolve', id: 'c', resolution: 'Done' },
    ])
    const left = press(answered.state, ...typed('Go'), 'escape')
    expect(left.effects).toEqual([])
    expect(left.state.message?.text).toBe('Nothing was decided.')
  })

  test('H2 an empty answer is none, and a handoff is neither approved nor denied', () => {
    const asked = press(handed, 'r', 'enter', 'space', 'enter')
    expect(asked.effects).toEqual([])
    expect(asked.state.prompt?.ask).toBe('resolution')
    for (const key of ['a', 'd', 'e']) expect(press(handed, key).effects).toEqual([])
    expect(press(handed, 'a').state.message?.text).toContain('r answers it')
  })

  test('H2 what was answered leaves the list and says what became of it', () => {
    const outcome = { id: 'c', status: 'resolved', note: 'Answered and handed back to sales.' }
    const after = play(handed, { event: 'decided', outcome, now: start }).state
    expect(after.message?.text).toBe('Answered and handed back to sales.')
    expect(visibleItems(after).map(({ id }) => id)).toEqual(['b', 'a'])
    const read = screenWith([itemOf('c', { kind: 'handoff', status: 'consumed' })])
    expect(press(read, 'r').state.message?.text).toBe('Nothing to decide: answered and read.')
  })

  test('K6 on all others r reads again', () => {
    expect(press(screenWith(three), 'r').effects).toEqual([{ act: 'load' }])
  })
})

describe('access to files', () => {
  const asked = itemOf('c', { kind: 'grant', action: 'request_grant', domain: 'files' })
  const options = [
    'file_once',
    'file',
    'folder_session',
    'until',
    'folder',
    'folder_write',
  ] as const
  const choosing = () =>
    play(press(screenWith([asked]), 'a').state, { event: 'access', id: 'c', options }).state

  test('GR3, C2 approving asks how much, and what opens least is under the hand', () => {
    expect(press(screenWith([asked]), 'a').effects).toEqual([{ act: 'access', id: 'c' }])
    expect(decisions(press(choosing(), 'enter').effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', grant: { choice: 'file_once' } },
    ])
    expect(decisions(press(choosing(), '5').effects)).toMatchObject([
      { grant: { choice: 'folder' } },
    ])
    expect(press(choosing(), 'escape').state.message?.text).toBe('Nothing was decided.')
  })

  test('GR3 until asks for a time, and what is none decides nothing', () => {
    const until = press(choosing(), '4')
    expect(until.effects).toEqual([])
    expect(decisions(press(until.state, ...typed('2h'), 'enter').effects)).toMatchObject([
      { grant: { choice: 'until', until: '2026-03-02T12:00:00.000Z' } },
    ])
    for (const wrong of ['', 'soon', '2020-01-01T00:00']) {
      const { state, effects } = press(until.state, ...typed(wrong), 'enter')
      expect(effects).toEqual([])
      expect(state.message?.tone).toBe('bad')
    }
  })

  test('GR3 denying may be for good, and may say why', () => {
    const denied = press(screenWith([asked]), 'd')
    const once = press(denied.state, 'enter', ...typed('not now'), 'enter')
    expect(decisions(once.effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'reject', reason: 'not now' },
    ])
    const always = press(denied.state, '2', 'enter')
    expect(decisions(always.effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'reject', grant: { choice: 'deny_always' } },
    ])
    expect(press(screenWith([asked]), 'e').state.message?.text).toContain('Only proposals')
  })
})

describe('finding', () => {
  test('K6 s sets aside until S, and the hand goes on', () => {
    const aside = press(screenWith(three), 's').state
    expect(aside.selected).toBe('b')
    expect(visibleItems(play(aside, loaded(three)).state)).toHaveLength(2)
    expect(visibleItems(press(aside, 'S').state)).toHaveLength(3)
  })

  test('K6 a filter asks anew, and the answer to an older question is none', () => {
    const { state, effects } = press(screenWith(three), '/', ...typed('acme'), 'enter')
    expect(state.filter).toBe('acme')
    expect(effects).toEqual([{ act: 'load' }])
    expect(visibleItems(play(state, loaded(three)).state)).toEqual([])
    const found = play(state, loaded([itemOf('b')], 'acme')).state
    expect(found.selected).toBe('b')
    expect(press(found, 'escape').state.filter).toBe('')
  })

  test('K6 pasted text is never a command, but may be a reason', () => {
    const pasted = press(screenWith(three), 'paste-start', ...typed('adyesz'), 'enter', 'paste-end')
    expect(pasted.effects).toEqual([])
    const { state } = press(screenWith([itemOf('c', { kind: 'call' })]), 'd', 'paste-start')
    const written = press(state, ...typed('one'), 'enter', ...typed('two'), 'paste-end')
    expect(written.effects).toEqual([])
    expect(press(written.state, 'enter').effects).toMatchObject([{ reason: 'onetwo' }])
  })
})

const names = ['j', 'k', 'a', 'd', 'e', 'r', 's', 'S', 'z', '/', '?', 'n', 'p', '1', '4', 'y', 'x']
const moreNames = ['enter', 'escape', 'space', 'G', 'g', 'pagedown', 'pageup', 'backspace', 'q']

test('K6 whatever is pressed, the hand is on something shown, and never two decisions are under way', () => {
  const kinds = fc.constantFrom('proposal', 'call', 'permission', 'spot_check', 'handoff', 'grant')
  fc.assert(
    fc.property(
      fc.array(kinds, { maxLength: 6 }),
      fc.array(fc.constantFrom(...names, ...moreNames), { maxLength: 60 }),
      (given, pressed) => {
        const state = screenWith(given.map((kind, at) => itemOf(String(at), { kind })))
        const { state: after, effects } = press(state, ...pressed)
        const shown = visibleItems(after).map(({ id }) => id)
        if (shown.length === 0) expect(after.selected).toBeUndefined()
        else expect(shown).toContain(after.selected)
        expect(decisions(effects).length).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test('RC4 approving what the active policy blocks asks first, and sends the version it showed', () => {
  const policy_conflict = { policy: 'careful', version: 'v2', rule: 'r1', message: 'note: no.' }
  const state = screenWith([itemOf('a', { policy_conflict })])
  const asked = press(state, 'a')
  expect(decisions(asked.effects)).toEqual([])
  expect(asked.state.prompt).toMatchObject({ ask: 'conflict', version: 'v2' })
  expect(decisions(press(asked.state, 'n').effects)).toEqual([])
  expect(decisions(press(asked.state, 'y').effects)).toEqual([
    { act: 'decide', id: 'a', decision: 'approve', acknowledge: 'v2' },
  ])
})

describe('checks', () => {
  const rows = ['c', 'b'].map((id) => itemOf(id, { kind: 'spot_check', look_back: 'l1' }))
  const consequences = {
    confirm: 'A clean check.',
    wrong: 'The gate closes: 50 more correct actions before the agent acts alone again.',
    differently: 'A matter of preference: the agent keeps its credit.',
  }
  const detail = detailOf(rows[0] ?? itemOf('c'), {
    check: { record: [], consequences, faults: [] },
  })
  const read = { event: 'read', detail } as const

  test('K6 T14 a check that nobody opened is opened first, and not answered', () => {
    const { state, effects } = press(screenWith(rows), 'a')
    expect(effects).toEqual([{ act: 'read', id: 'c' }])
    expect(state).toMatchObject({
      view: 'detail',
      message: { text: expect.stringMatching(/^Read/) },
    })
    // Still being read.
    expect(decisions(press(state, 'a', 'd', 'o').effects)).toEqual([])
    const opened = play(state, read).state
    expect(decisions(press(opened, 'a').effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'approve' },
    ])
  })

  test('K6 T14 wrong asks what was wrong, differently only why, and skip counts for nothing', () => {
    const opened = play(press(screenWith(rows), 'enter').state, read).state
    expect(press(opened, 'd').state.prompt).toMatchObject({ ask: 'type', id: 'c' })
    expect(decisions(press(opened, 'o', 'enter').effects)).toEqual([
      {
        act: 'decide',
        id: 'c',
        decision: 'reject',
        override: { type: 'human_preference', severity: 'medium' },
      },
    ])
    expect(decisions(press(screenWith(rows), 'x').effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', skip: true },
    ])
    expect(decisions(press(screenWith(three), 'x').effects)).toEqual([])
    expect(decisions(press(screenWith(three), 'o').effects)).toEqual([])
  })

  test('K6 T14 what an answer brought is said', () => {
    const said = (outcome: object) =>
      play(screenWith(rows), {
        event: 'decided',
        outcome: { id: 'c', status: 'approved', ...outcome },
        now: start,
      }).state.message?.text
    expect(said({})).toBe('Confirmed.')
    expect(said({ counted: false })).toBe('Closed: it counts for nothing.')
    expect(said({ status: 'rejected', trust: { from: 0.9, to: 0.82 }, look_back: 10 })).toBe(
      'Answered. Trust 0.90 → 0.82. 10 other actions come to the inbox: look back at them.',
    )
  })
})
