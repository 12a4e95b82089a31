import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Handoff, ApprovalItem } from '../approvals.ts'
import {
  createDetail,
  createItem,
  keys,
  loaded,
  play,
  screenWith,
  start,
} from '../../../test/cli/inbox/inbox.fixture.ts'
import { displayWidth, lineText } from './lines.ts'
import { initialState } from './state.ts'
import type { State } from './state.ts'
import { render } from './view.ts'

/** Splits text into single keys. */
const typed = (text: string): string[] => Array.from(text)

const shown = (state: State) => render(state).map((line) => lineText(line).trimEnd())
const after = (state: State, ...names: string[]) => play(state, ...keys(names)).state
const reading = (item: ApprovalItem) =>
  play(after(screenWith([item]), 'enter'), { event: 'read', detail: createDetail(item) }).state

test('K6 at 80 × 24 an item has two lines: the request and the requester', () => {
  const lines = shown(screenWith([createItem('b', { risk: 'high' }), createItem('a')]))
  expect(lines).toHaveLength(24)
  expect(lines[0]).toBe(' Inbox 2 pending'.padEnd(75) + 'live')
  expect(lines.slice(2, 6)).toEqual([
    ' ❯ ▲ escalate  update_deal: set stage of deal-b to won'.padEnd(77) + '3m',
    '   high risk · sales · crm · proposal · trust 0.30 · confidence 0.90 · 6d left',
    '   ▲ escalate  update_deal: set stage of deal-a to won'.padEnd(77) + '3m',
    '   sales · crm · proposal · trust 0.30 · confidence 0.90 · 6d left',
  ])
  expect(lines[23]).toContain('a approve')
})

test('A8, A13 the detail shows the reason, then the change, then the agent’s own words', () => {
  const hostile = createItem('c', { summary: 'pay \u202e\u001b[2J now' })
  const text = shown(reading(hostile)).join('\n')
  expect(text).toContain('pay U+202EU+001B[2J now')
  const order = ['Reason', 'Change to deal-c', 'Agent’s reasoning']
  expect(order.map((part) => text.indexOf(part))).toEqual(
    order.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
  )
  expect(text).toContain('   You are asked because trust 0.30 is below 0.50.')
  expect(text).toContain('   - stage: "open"\n   + stage: "won"\n   + owner.name: "bea"')
  expect(text).toContain('   │ They signed.\n   │ Today.')
})

test('H5, H6, A13 a handoff shows the attempts, the context and the thread', () => {
  const item = createItem('c', { kind: 'handoff', expires_at: null, target: '' })
  const handoff: Handoff = {
    handoff_mode: 'escalate',
    reason: 'Too high.',
    confidence: 0.4,
    attempted_actions: ['asked them\u202e', { looked: 'at it' }],
    context: { deal: 'deal-1', wanted: 0.3 },
    packet: {
      recent: [{ seq: 7, at: '2026-03-02T09:50:00Z', type: 'proposal.created', subject: 'deal-1' }],
    },
    parent_handoff_id: 'p',
    proposal_id: 'x',
    overdue: true,
    reminded: 2,
    thread: [
      {
        handoff_id: 'p',
        reason: 'May I?',
        at: '2026-03-02T08:00:00Z',
        resolution: 'Ask legal.',
        hand_back: true,
        instructions: 'Then go on.',
      },
      { handoff_id: 'c', reason: 'Too high.', at: '2026-03-02T09:57:00Z' },
    ],
  }
  const detail = createDetail(item, { handoff, reasoning: 'Too high.' })
  const size = { rows: 60, columns: 80 }
  const state = play(after(screenWith([item], size), 'enter'), { event: 'read', detail }).state
  const text = shown(state).join('\n')
  for (const part of [
    'overdue: 2 reminders sent',
    '│ Too high.',
    '• asked themU+202E',
    '• {"looked":"at it"}',
    'deal: "deal-1"\n   wanted: 0.3\n   about proposal x',
    '2026-03-02 09:50 proposal.created deal-1 (entry 7)',
    '2026-03-02 08:00 request: May I?\n     resolution: Ask legal. (handed back)',
    'instructions: Then go on.',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('Change to')
  expect(text).toContain('r resolve')
  expect(text).not.toContain('a approve')
  const alone = { ...handoff, thread: handoff.thread.slice(1), attempted_actions: [], context: {} }
  const brief = play(state, { event: 'read', detail: { ...detail, handoff: alone } }).state
  expect(shown(brief).join('\n')).not.toMatch(/Thread|Attempts/)
  const asked = after(state, 'r', ...typed('Done'), 'enter', ...typed('Go on'))
  expect(shown(asked).at(-2)).toBe(' Instructions (to hand back): Go on')
})

test('GR3, C2, PV8 an access request shows the access, the content and sensitive files', () => {
  const item = createItem('c', {
    kind: 'grant',
    domain: 'files',
    summary: 'AI wants to read files in: /home/a/Work',
    trust_level: null,
    confidence: null,
  })
  const grant = {
    path: '/home/a/link',
    real: '/home/a/Work\u202e',
    permission: 'read',
    is_folder: true,
    missing: false,
    folder: '/home/a/Work',
    inside: { files: 12, folders: 3, bytes: 48_200, sample: ['a\nb.md'], capped: true },
    sensitive: ['secret.pem'],
    warning: 'This is your whole home: all of it.',
  }
  const detail = createDetail(item, { grant, reasoning: 'To find it.' })
  const size = { rows: 60, columns: 80 }
  expect(shown(screenWith([item], size)).join('\n')).toContain('   sales · files · grant · 6d left')
  const state = play(after(screenWith([item], size), 'enter'), { event: 'read', detail }).state
  const text = shown(state).join('\n')
  expect(text).not.toMatch(/trust –|confidence –/)
  for (const part of [
    'read of the folder /home/a/WorkU+202E',
    'requested as /home/a/link',
    'at least 12 files in 3 folders, 48.2 kB',
    '• a↵b.md',
    'and at least 14 more',
    'This is your whole home',
    'Sensitive files\n   ! secret.pem',
    '│ To find it.',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('Change to')
  const options = ['folder_session', 'until', 'folder', 'folder_write'] as const
  const asked = play(after(state, 'a'), { event: 'access', id: 'c', options }).state
  expect(shown(asked)).toContain(' ❯ 1 Allow folder this session (read)')
  expect(shown(after(state, 'd'))).toContain('   2 Deny and don’t ask again')
  const file = { ...grant, is_folder: false, missing: true, inside: null, sensitive: [] }
  const gone = play(state, { event: 'read', detail: { ...detail, grant: file } }).state
  expect(shown(gone).join('\n')).toMatch(
    /the path no longer exists\n.*“folder” means \/home\/a\/Work/,
  )
})

test('T4 rejecting shows the trust effect of each choice', () => {
  const asked = after(reading(createItem('c')), 'd')
  const lines = shown(asked)
  expect(lines).toContain(' What kind of error?')
  expect(lines).toContain(' ❯ 1 agent_wrong       trust 0.22')
  const serious = shown(after(asked, '1'))
  expect(serious).toContain('   1 low       trust 0.26')
  expect(serious).toContain(' ❯ 2 medium    trust 0.22')
  expect(shown(after(asked, '1', '2', ...typed('too soon')))[22]).toBe(' Reason: too soon')
})

test('C2, A5 shows a deferred decision and a decision by someone else', () => {
  const held = { decision: 'approve', by: 'owner', until: '2026-03-02T10:00:05Z' } as const
  const decided = { decided_by: 'bea', decided_at: '2026-03-02T09:59:57Z', channel: 'console' }
  const lines = shown(
    screenWith([
      createItem('b', { held }),
      createItem('a', { status: 'rejected', ...decided, reason: 'no' }),
    ]),
  )
  expect(lines[3]).toBe('   Approves in 5s, by owner: can be undone')
  expect(lines[5]).toBe('   Rejected by bea (console) 3s ago: no')
})

test('K6, C13 empty, loading, filtered and offline lists name the next step', () => {
  const empty = screenWith([])
  expect(shown(empty)).toContain(' Inbox is empty.')
  expect(shown(initialState({ rows: 24, columns: 80 }, start))).toContain(' Loading …')
  const found = play(after(empty, '/', ...typed('acme'), 'enter'), loaded([], 'acme')).state
  expect(shown(found)).toContain(' Press Esc to clear the filter.')
  const message = 'The daemon is not running on /x.'
  const offline = shown(play(empty, { event: 'unreachable', message }).state)
  expect(offline).toContain(' The daemon is not running on /x.')
  expect(offline[0]).toMatch(/not connected$/)
  expect(shown(screenWith([], { rows: 5, columns: 80 }))[0]).toContain('too small')
  expect(shown(after(empty, '?')).join('\n')).toContain('undo the last decision')
})

const text = fc.string({ unit: 'binary', maxLength: 60 })
const anItem = fc.record({
  summary: text,
  requester: text,
  domain: text,
  target: text,
  kind: fc.constantFrom('proposal', 'call', 'permission', 'spot_check', 'grant'),
  risk: fc.constantFrom('low' as const, 'normal' as const, 'high' as const),
})

test('K6, A13 for any text and keys, the screen keeps its size and shows no control characters', () => {
  const names = ['j', 'k', 'd', '1', '2', 'enter', 'escape', '/', 'x', '?', 'G', 'e', 's', 'a']
  fc.assert(
    fc.property(
      fc.array(anItem, { maxLength: 12 }),
      fc.array(fc.constantFrom(...names), { maxLength: 12 }),
      fc.record({
        rows: fc.integer({ min: 1, max: 40 }),
        columns: fc.integer({ min: 1, max: 120 }),
      }),
      text,
      (given, pressed, size, reasoning) => {
        const items = given.map((more, at) => createItem(String(at), more))
        const [first] = items
        const begun = screenWith(items, size)
        const read = first
          ? play(begun, { event: 'read', detail: createDetail(first, { reasoning }) }).state
          : begun
        const lines = render(after(read, ...pressed)).map(lineText)
        expect(lines).toHaveLength(size.rows)
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(size.columns)
          expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
        }
      },
    ),
  )
})

test('K6 T14 a spot check shows the consequences and its position in the look-back', () => {
  const rows = ['b', 'a'].map((id) =>
    createItem(id, { kind: 'spot_check', look_back: 'l1', mode: 'act', expires_at: null }),
  )
  const check = {
    record: [{ seq: 12, at: '2026-03-02T09:56:00Z', type: 'call.done', outcome: 'ok' }],
    consequences: {
      confirm: 'A clean check.',
      wrong: 'The gate closes: 50 more correct actions before the agent acts alone again.',
      differently: 'A matter of preference: the agent keeps its credit.',
    },
    faults: [],
  }
  const state = screenWith(rows)
  const lines = shown(state)
  expect(lines[3]).toBe('   sales · crm · look-back 1 of 2 · trust 0.30 · confidence 0.90')
  expect(lines[5]).toContain('look-back 2 of 2')
  expect(lines[23]).toContain('a confirm  d wrong  o prefer  x skip')
  const detail = createDetail(rows[0] ?? createItem('b'), { check })
  const opened = play(after(state, 'enter'), { event: 'read', detail }).state
  const text = shown(opened).join('\n')
  for (const part of [
    'Confirm: A clean check.',
    'Mark as wrong: The gate closes: 50 more correct actions',
    'Prefer another way: A matter of preference',
    'Skip: Close without trust change.',
  ])
    expect(text).toContain(part)
  expect(shown(after(opened, 'd')).join('\n')).toContain(
    'What kind of error?\n The gate closes: 50 more',
  )
  const below = shown(after(opened, 'G')).join('\n')
  expect(below).toContain('wrong as agent_wrong: low 0.26')
})
