import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createDetail,
  createItem,
  keys,
  loaded,
  play,
  screenWith,
  start,
} from '../../../test/cli/inbox/inbox.fixture.ts'
import type { Played } from '../../../test/cli/inbox/inbox.fixture.ts'
import { initialState, visibleItems } from './state.ts'
import type { Effect, State } from './state.ts'

/** Splits text into single keys. */
const typed = (text: string): string[] => Array.from(text)

const three = ['c', 'b', 'a'].map((id) => createItem(id))
const press = (state: State, ...names: string[]): Played => play(state, ...keys(names))
const decisions = (effects: readonly Effect[]) =>
  effects.filter(({ act }) => act === 'decide' || act === 'resolve')
const approvedAs = (id: string, status = 'approved') => ({
  event: 'decided' as const,
  outcome: { id, status, trust: { from: 0.3, to: 0.32 } },
  now: start,
})

describe('moving', () => {
  test('K6 j and k move the selection and stop at the ends', () => {
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

  test('K6 new items above do not change the selection', () => {
    const state = press(screenWith(three), 'j').state
    const later = play(state, loaded([createItem('e'), createItem('d'), ...three])).state
    expect(later.selected).toBe('b')
    expect(decisions(press(later, 'a').effects)).toMatchObject([{ id: 'b' }])
  })

  test('A5, K6 an item decided by someone else stays selected and shows its status', () => {
    const state = screenWith(three)
    const rejected = createItem('c', { status: 'rejected', decided_by: 'bea' })
    const later = play(state, loaded([rejected, ...three.slice(1)])).state
    const { state: after, effects } = press(later, 'a')
    expect(after.selected).toBe('c')
    expect(after.message?.text).toBe('Nothing to decide: rejected by bea.')
    expect(decisions(effects)).toEqual([])
  })

  test('K6 the end of the list loads more items', () => {
    const event = { event: 'loaded', items: three, total: 900, isMore: true, filter: '' } as const
    const { state } = play(initialState({ rows: 24, columns: 80 }, start), event)
    const { state: after, effects } = press(state, 'G')
    expect(after.limit).toBe(400)
    expect(effects).toEqual([{ act: 'load' }])
  })

  test('K6 Enter opens and closes an item, and a changed item is read again', () => {
    const { state, effects } = press(screenWith(three), 'enter')
    expect(state.view).toBe('detail')
    expect(effects).toEqual([{ act: 'read', id: 'c' }])
    const read = play(state, { event: 'read', detail: createDetail(createItem('c')) }).state
    expect(play(read, loaded(three)).effects).toEqual([])
    const changed = [createItem('c', { status: 'approved' }), ...three.slice(1)]
    expect(play(read, loaded(changed)).effects).toEqual([{ act: 'read', id: 'c' }])
    expect(press(read, 'n').effects).toEqual([{ act: 'read', id: 'b' }])
    expect(press(read, 'escape').state.view).toBe('list')
    expect(press(read, 'q').effects).toEqual([])
  })

  test('K6 scrolling ends with the text, in any window size', () => {
    const reading = press(screenWith(three, { rows: 10, columns: 80 }), 'enter').state
    const read = play(reading, { event: 'read', detail: createDetail(createItem('c')) }).state
    const bottom = press(read, 'G').state
    expect(bottom.scroll).toBeGreaterThan(0)
    expect(press(bottom, 'j', 'j').state.scroll).toBe(bottom.scroll)
    const size = { rows: 100, columns: 80 }
    expect(play(bottom, { event: 'resized', size }).state.scroll).toBe(0)
  })
})

describe('deciding', () => {
  test('K6 a approves, selects the next item and shows the trust effect', () => {
    const { state, effects } = press(screenWith(three), 'a')
    expect(effects).toEqual([{ act: 'decide', id: 'c', decision: 'approve' }])
    const after = play(state, approvedAs('c')).state
    expect(after.message?.text).toBe('Approved. Trust 0.30 → 0.32.')
    expect(after.selected).toBe('b')
    // A page read before the decision does not restore the item.
    expect(visibleItems(play(after, loaded(three)).state).map(({ id }) => id)).toEqual(['b', 'a'])
  })

  test('K6 a held key decides once', () => {
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

  test('B4 rejecting a proposal asks for type, severity and reason', () => {
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

  test('B4 rejecting a call asks only for a reason, and Esc cancels', () => {
    const { state } = press(screenWith([createItem('c', { kind: 'call' })]), 'd')
    expect(press(state, 'enter').effects).toEqual([{ act: 'decide', id: 'c', decision: 'reject' }])
    const left = press(state, ...typed('because'), 'escape')
    expect(left.effects).toEqual([])
    expect(left.state.prompt).toBeUndefined()
  })

  test('Y4 a new domain is allowed under a policy', () => {
    const { state, effects } = press(screenWith([createItem('c', { kind: 'permission' })]), 'a')
    expect(effects).toEqual([{ act: 'policies', id: 'c' }])
    const event = { event: 'policies', id: 'c', options: ['strict', 'loose'] } as const
    const { state: asked } = play(state, { ...event, options: [...event.options] })
    expect(press(asked, '2').effects).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', policy: 'loose' },
    ])
    expect(press(asked, '3').effects).toEqual([])
  })

  test('B3 an edited change needs a confirmation', () => {
    const { state, effects } = press(screenWith(three), 'e')
    expect(effects).toEqual([{ act: 'edit', id: 'c' }])
    const changed = play(state, { event: 'edited', id: 'c', change: { stage: 'lost' } }).state
    expect(press(changed, 'enter', 'a').effects).toEqual([])
    expect(press(changed, 'n', 'y').effects).toEqual([])
    expect(press(changed, 'y').effects).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', change: { stage: 'lost' } },
    ])
    const check = screenWith([createItem('c', { kind: 'spot_check' })])
    expect(press(check, 'e').state.message?.text).toContain('Only proposals and calls')
  })

  test('C2 z undoes the selected deferred decision, or the last one', () => {
    const { state } = press(screenWith(three), 'a')
    const outcome = { id: 'c', status: 'held', until: '2026-03-02T10:00:08Z' }
    const held = play(state, { event: 'decided', outcome, now: start }).state
    expect(held.message?.text).toBe('Applies in 8s. Press z to undo.')
    expect(held.selected).toBe('b')
    const { state: undoing, effects } = press(held, 'z')
    expect(effects).toEqual([{ act: 'undo', id: 'c' }])
    const event = { event: 'undone', outcome: { id: 'c', status: 'pending' } } as const
    const undone = play(undoing, event).state
    expect(undone.selected).toBe('c')
    expect(press(undone, 'z').state.message?.text).toContain('Nothing to undo')
  })

  test('K6 a failed decision shows the error and keeps the list', () => {
    const { state } = press(screenWith(three), 'a')
    const error = { code: 'already_decided', message: 'not found or already decided' }
    const outcome = { id: 'c', status: 'error', error }
    const after = play(state, { event: 'decided', outcome, now: start })
    expect(after.state.message).toEqual({ text: error.message, tone: 'bad' })
    expect(visibleItems(after.state)).toHaveLength(3)
    expect(after.effects).toEqual([{ act: 'load' }])
  })
})

describe('resolving', () => {
  const handoff = createItem('c', { kind: 'handoff', expires_at: null })
  const withHandoff = screenWith([handoff, ...three.slice(1)])

  test('H2, K6 r asks for the resolution, then for instructions, and sends both', () => {
    const answered = press(withHandoff, 'r', ...typed('Done'), 'enter')
    expect(answered.effects).toEqual([])
    expect(press(answered.state, ...typed('Go on'), 'enter').effects).toEqual([
      { act: 'resolve', id: 'c', resolution: 'Done', instructions: 'Go on' },
    ])
    expect(press(answered.state, 'enter').effects).toEqual([
      { act: 'resolve', id: 'c', resolution: 'Done' },
    ])
    const left = press(answered.state, ...typed('Go'), 'escape')
    expect(left.effects).toEqual([])
    expect(left.state.message?.text).toBe('Canceled.')
  })

  test('H2 refuses an empty resolution, and neither approves nor rejects a handoff', () => {
    const asked = press(withHandoff, 'r', 'enter', 'space', 'enter')
    expect(asked.effects).toEqual([])
    expect(asked.state.prompt?.ask).toBe('resolution')
    for (const key of ['a', 'd', 'e']) expect(press(withHandoff, key).effects).toEqual([])
    expect(press(withHandoff, 'a').state.message?.text).toContain('Press r to resolve it')
  })

  test('H2 a resolved handoff leaves the list and shows the result', () => {
    const outcome = { id: 'c', status: 'resolved', note: 'Resolved and handed back to sales.' }
    const after = play(withHandoff, { event: 'decided', outcome, now: start }).state
    expect(after.message?.text).toBe('Resolved and handed back to sales.')
    expect(visibleItems(after).map(({ id }) => id)).toEqual(['b', 'a'])
    const read = screenWith([createItem('c', { kind: 'handoff', status: 'consumed' })])
    expect(press(read, 'r').state.message?.text).toBe('Nothing to decide: resolved and read.')
  })

  test('K6 r reloads for other items', () => {
    expect(press(screenWith(three), 'r').effects).toEqual([{ act: 'load' }])
  })
})

describe('access to files', () => {
  const asked = createItem('c', { kind: 'grant', action: 'request_grant', domain: 'files' })
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

  test('GR3, C2 approving asks for the access, with the narrowest choice selected', () => {
    expect(press(screenWith([asked]), 'a').effects).toEqual([{ act: 'access', id: 'c' }])
    expect(decisions(press(choosing(), 'enter').effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'approve', grant: { choice: 'file_once' } },
    ])
    expect(decisions(press(choosing(), '5').effects)).toMatchObject([
      { grant: { choice: 'folder' } },
    ])
    expect(press(choosing(), 'escape').state.message?.text).toBe('Canceled.')
  })

  test('GR3 until asks for a time, and an invalid time decides nothing', () => {
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

  test('GR3 denying can be permanent and can have a reason', () => {
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

describe('filtering', () => {
  test('K6 s sets aside until S, and the hand goes on', () => {
    const aside = press(screenWith(three), 's').state
    expect(aside.selected).toBe('b')
    expect(visibleItems(play(aside, loaded(three)).state)).toHaveLength(2)
    expect(visibleItems(press(aside, 'S').state)).toHaveLength(3)
  })

  test('K6 a filter reloads the list, and results of an older filter are ignored', () => {
    const { state, effects } = press(screenWith(three), '/', ...typed('acme'), 'enter')
    expect(state.filter).toBe('acme')
    expect(effects).toEqual([{ act: 'load' }])
    expect(visibleItems(play(state, loaded(three)).state)).toEqual([])
    const found = play(state, loaded([createItem('b')], 'acme')).state
    expect(found.selected).toBe('b')
    expect(press(found, 'escape').state.filter).toBe('')
  })

  test('K6 pasted text is never a command, but can be a reason', () => {
    const pasted = press(screenWith(three), 'paste-start', ...typed('adyesz'), 'enter', 'paste-end')
    expect(pasted.effects).toEqual([])
    const { state } = press(screenWith([createItem('c', { kind: 'call' })]), 'd', 'paste-start')
    const written = press(state, ...typed('one'), 'enter', ...typed('two'), 'paste-end')
    expect(written.effects).toEqual([])
    expect(press(written.state, 'enter').effects).toMatchObject([{ reason: 'onetwo' }])
  })
})

const names = ['j', 'k', 'a', 'd', 'e', 'r', 's', 'S', 'z', '/', '?', 'n', 'p', '1', '4', 'y', 'x']
const moreNames = ['enter', 'escape', 'space', 'G', 'g', 'pagedown', 'pageup', 'backspace', 'q']

test('K6 after any keys, the selection is visible and at most one decision is running', () => {
  const kinds = fc.constantFrom('proposal', 'call', 'permission', 'spot_check', 'handoff', 'grant')
  fc.assert(
    fc.property(
      fc.array(kinds, { maxLength: 6 }),
      fc.array(fc.constantFrom(...names, ...moreNames), { maxLength: 60 }),
      (given, pressed) => {
        const state = screenWith(given.map((kind, at) => createItem(String(at), { kind })))
        const { state: after, effects } = press(state, ...pressed)
        const shown = visibleItems(after).map(({ id }) => id)
        if (shown.length === 0) expect(after.selected).toBeUndefined()
        else expect(shown).toContain(after.selected)
        expect(decisions(effects).length).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test('RC4 approving against the active policy asks first, and sends the shown version', () => {
  const policy_conflict = { policy: 'careful', version: 'v2', rule: 'r1', message: 'note: no.' }
  const state = screenWith([createItem('a', { policy_conflict })])
  const asked = press(state, 'a')
  expect(decisions(asked.effects)).toEqual([])
  expect(asked.state.prompt).toMatchObject({ ask: 'conflict', version: 'v2' })
  expect(decisions(press(asked.state, 'n').effects)).toEqual([])
  expect(decisions(press(asked.state, 'y').effects)).toEqual([
    { act: 'decide', id: 'a', decision: 'approve', acknowledge: 'v2' },
  ])
})

describe('spot checks', () => {
  const rows = ['c', 'b'].map((id) => createItem(id, { kind: 'spot_check', look_back: 'l1' }))
  const consequences = {
    confirm: 'A clean check.',
    wrong: 'The gate closes: 50 more correct actions before the agent acts alone again.',
    differently: 'A matter of preference: the agent keeps its credit.',
  }
  const detail = createDetail(rows[0] ?? createItem('c'), {
    check: { record: [], consequences, faults: [] },
  })
  const read = { event: 'read', detail } as const

  test('K6 T14 opens an unread spot check first, without deciding it', () => {
    const { state, effects } = press(screenWith(rows), 'a')
    expect(effects).toEqual([{ act: 'read', id: 'c' }])
    expect(state).toMatchObject({
      view: 'detail',
      message: { text: expect.stringMatching(/^Read/) },
    })
    // The detail is still loading.
    expect(decisions(press(state, 'a', 'd', 'o').effects)).toEqual([])
    const opened = play(state, read).state
    expect(decisions(press(opened, 'a').effects)).toEqual([
      { act: 'decide', id: 'c', decision: 'approve' },
    ])
  })

  test('K6 T14 wrong asks for the type, prefer only for a reason, and skip changes no trust', () => {
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

  test('K6 T14 shows the result of a decision', () => {
    const readMessage = (outcome: object) =>
      play(screenWith(rows), {
        event: 'decided',
        outcome: { id: 'c', status: 'approved', ...outcome },
        now: start,
      }).state.message?.text
    expect(readMessage({})).toBe('Confirmed.')
    expect(readMessage({ counted: false })).toBe('Closed without trust change.')
    expect(readMessage({ status: 'rejected', trust: { from: 0.9, to: 0.82 }, look_back: 10 })).toBe(
      'Decided. Trust 0.90 → 0.82. 10 more actions added for review.',
    )
  })
})
