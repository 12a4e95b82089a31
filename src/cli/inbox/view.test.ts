import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Handoff, ApprovalItem } from '../approvals.ts'
import {
  detailOf,
  itemOf,
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

/** As keys, one by one. */
const typed = (text: string): string[] => Array.from(text)

const shown = (state: State) => render(state).map((line) => lineText(line).trimEnd())
const after = (state: State, ...names: string[]) => play(state, ...keys(names)).state
const reading = (item: ApprovalItem) =>
  play(after(screenWith([item]), 'enter'), { event: 'read', detail: detailOf(item) }).state

test('K6 at 80 × 24 an item is two lines: what is asked, and by whom', () => {
  const lines = shown(screenWith([itemOf('b', { risk: 'high' }), itemOf('a')]))
  expect(lines).toHaveLength(24)
  expect(lines[0]).toBe(' Inbox 2 wait'.padEnd(75) + 'live')
  expect(lines.slice(2, 6)).toEqual([
    ' ❯ ▲ escalate  update_deal: set stage of deal-b to won'.padEnd(77) + '3m',
    '   high risk · sales · crm · proposal · trust 0.30 · 0.90 sure · 6d left',
    '   ▲ escalate  update_deal: set stage of deal-a to won'.padEnd(77) + '3m',
    '   sales · crm · proposal · trust 0.30 · 0.90 sure · 6d left',
  ])
  expect(lines[23]).toContain('a approve')
})

test('A8, A13 reading begins with why, then the change, and the agent’s words are its own', () => {
  const hostile = itemOf('c', { summary: 'pay \u202e\u001b[2J now' })
  const text = shown(reading(hostile)).join('\n')
  expect(text).toContain('pay U+202EU+001B[2J now')
  const order = ['Why you are asked', 'Change to deal-c', 'The agent says']
  expect(order.map((part) => text.indexOf(part))).toEqual(
    order.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
  )
  expect(text).toContain('   You are asked because trust 0.30 is below 0.50.')
  expect(text).toContain('   - stage: "open"\n   + stage: "won"\n   + owner.name: "bea"')
  expect(text).toContain('   │ They signed.\n   │ Today.')
})

test('H5, H6, A13 a handoff reads as what was tried, what is known, and what was answered before', () => {
  const item = itemOf('c', { kind: 'handoff', expires_at: null, target: '' })
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
  const detail = detailOf(item, { handoff, reasoning: 'Too high.' })
  const size = { rows: 60, columns: 80 }
  const state = play(after(screenWith([item], size), 'enter'), { event: 'read', detail }).state
  const text = shown(state).join('\n')
  for (const part of [
    'overdue: people were reminded 2 times',
    '│ Too high.',
    '• asked themU+202E',
    '• {"looked":"at it"}',
    'deal: "deal-1"\n   wanted: 0.3\n   about proposal x',
    '2026-03-02 09:50 proposal.created deal-1 (entry 7)',
    '2026-03-02 08:00 asked: May I?\n     answered: Ask legal. (handed back)',
    'instructions: Then go on.',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('Change to')
  expect(text).toContain('r answer')
  expect(text).not.toContain('a approve')
  const alone = { ...handoff, thread: handoff.thread.slice(1), attempted_actions: [], context: {} }
  const brief = play(state, { event: 'read', detail: { ...detail, handoff: alone } }).state
  expect(shown(brief).join('\n')).not.toMatch(/Asked and answered|What it tried/)
  const asked = after(state, 'r', ...typed('Done'), 'enter', ...typed('Go on'))
  expect(shown(asked).at(-2)).toBe(' Instructions, to hand it back: Go on')
})

test('GR3, C2, PV8 a request for access reads as what it wants, what lies there and what looks sensitive', () => {
  const item = itemOf('c', {
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
  const detail = detailOf(item, { grant, reasoning: 'To find it.' })
  const size = { rows: 60, columns: 80 }
  expect(shown(screenWith([item], size)).join('\n')).toContain('   sales · files · grant · 6d left')
  const state = play(after(screenWith([item], size), 'enter'), { event: 'read', detail }).state
  const text = shown(state).join('\n')
  expect(text).not.toMatch(/trust –|– sure/)
  for (const part of [
    'read of the folder /home/a/WorkU+202E',
    'asked for as /home/a/link',
    'at least 12 files in 3 folders, 48.2 kB',
    '• a↵b.md',
    'and at least 14 more',
    'This is your whole home',
    'Looks sensitive\n   ! secret.pem',
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
  expect(shown(gone).join('\n')).toMatch(/nothing is there now\n.*“folder” means \/home\/a\/Work/)
})

test('T4 denying shows what each answer does to trust before it is given', () => {
  const asked = after(reading(itemOf('c')), 'd')
  const lines = shown(asked)
  expect(lines).toContain(' What was wrong?')
  expect(lines).toContain(' ❯ 1 agent_wrong       trust 0.22')
  const serious = shown(after(asked, '1'))
  expect(serious).toContain('   1 low       trust 0.26')
  expect(serious).toContain(' ❯ 2 medium    trust 0.22')
  expect(shown(after(asked, '1', '2', ...typed('too soon')))[22]).toBe(' Why? too soon')
})

test('C2, A5 what is held or was decided elsewhere says so in its place', () => {
  const held = { decision: 'approve', by: 'owner', until: '2026-03-02T10:00:05Z' } as const
  const decided = { decided_by: 'bea', decided_at: '2026-03-02T09:59:57Z', channel: 'console' }
  const lines = shown(
    screenWith([
      itemOf('b', { held }),
      itemOf('a', { status: 'rejected', ...decided, reason: 'no' }),
    ]),
  )
  expect(lines[3]).toBe('   Approves in 5s, by owner: it can still be undone')
  expect(lines[5]).toBe('   Rejected by bea (console) 3s ago: no')
})

test('K6, C13 empty, filtered, waiting and offline each say what is next', () => {
  const empty = screenWith([])
  expect(shown(empty)).toContain(' Nothing waits for you.')
  expect(shown(initialState({ rows: 24, columns: 80 }, start))).toContain(' Reading …')
  const found = play(after(empty, '/', ...typed('acme'), 'enter'), loaded([], 'acme')).state
  expect(shown(found)).toContain(' Esc shows all.')
  const message = 'No daemon runs on /x.'
  const offline = shown(play(empty, { event: 'unreachable', message }).state)
  expect(offline).toContain(' No daemon runs on /x.')
  expect(offline[0]).toMatch(/not connected$/)
  expect(shown(screenWith([], { rows: 5, columns: 80 }))[0]).toContain('too small')
  expect(shown(after(empty, '?')).join('\n')).toContain('undo a decision that is still held')
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

test('K6, A13 whatever agents write and people press, the screen keeps its size and shows all of it plainly', () => {
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
        const items = given.map((more, at) => itemOf(String(at), more))
        const [first] = items
        const begun = screenWith(items, size)
        const read = first
          ? play(begun, { event: 'read', detail: detailOf(first, { reasoning }) }).state
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

test('K6 T14 a check shows what each answer does, and where it is in its look-back', () => {
  const rows = ['b', 'a'].map((id) =>
    itemOf(id, { kind: 'spot_check', look_back: 'l1', mode: 'act', expires_at: null }),
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
  expect(lines[3]).toBe('   sales · crm · look-back 1 of 2 · trust 0.30 · 0.90 sure')
  expect(lines[5]).toContain('look-back 2 of 2')
  expect(lines[23]).toContain('a confirm  d wrong  o differently  x skip')
  const detail = detailOf(rows[0] ?? itemOf('b'), { check })
  const opened = play(after(state, 'enter'), { event: 'read', detail }).state
  const text = shown(opened).join('\n')
  for (const part of [
    'Confirm: A clean check.',
    'Mark as wrong: The gate closes: 50 more correct actions',
    'I would have done it differently: A matter of preference',
    'Skip: It is closed and counts for nothing.',
  ])
    expect(text).toContain(part)
  expect(shown(after(opened, 'd')).join('\n')).toContain(
    'What was wrong?\n The gate closes: 50 more',
  )
  const below = shown(after(opened, 'G')).join('\n')
  expect(below).toContain('wrong as agent_wrong: low 0.26')
})
