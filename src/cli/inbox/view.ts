import { isCheck } from '../approvals.ts'
import type { ApprovalDetail, ApprovalItem } from '../approvals.ts'
import { sanitize } from '../output.ts'
import {
  bodyLines,
  choiceKeys,
  choiceLines,
  frame,
  headLine,
  keyLines,
  messageLines,
  writingLine,
} from '../screen/frame.ts'
import { formatKind, modeSpan, score, statusLine } from './detail.ts'
import {
  bold,
  displayWidth,
  truncate,
  truncateLine,
  dim,
  padToWidth,
  formatTimeLeft,
  styled,
  formatDuration,
  lineText,
  wrapLine,
} from './lines.ts'
import type { Line, Span } from './lines.ts'
import { isChoicePrompt, listOptions } from './actions.ts'
import type { ChoicePrompt } from './actions.ts'
import { bodyRows, itemsOnScreen, readerLines, selectedItem, visibleItems } from './state.ts'
import type { Prompt, State } from './state.ts'

function promptPanel(state: State): Line[] {
  const { prompt, message, size } = state
  if (isChoicePrompt(prompt)) return choices(state, prompt)
  return prompt ? [] : messageLines(message, size).slice(0, -1)
}

function choices({ detail, size }: State, prompt: ChoicePrompt): Line[] {
  const options = listOptions(prompt)
  const about = detail?.id === prompt.id ? detail : undefined
  const width = Math.max(...options.map((option) => displayWidth(sanitize(option))))
  const labels = options.map((option) => {
    const to = about && trustAfter(about, prompt, option)
    const beside = to === undefined ? '' : `  trust ${score(to)}`
    return { label: padToWidth(sanitize(option), width), beside }
  })
  const follows = about?.check?.consequences.wrong
  return [
    [''],
    [bold(` ${questions[prompt.ask]}`)],
    ...(follows === undefined ? [] : wrapLine([dim(` ${sanitize(follows)}`)], size.columns - 1)),
    ...choiceLines(labels, prompt.at, Math.max(1, bodyRows(size) - 4)),
  ]
}

const questions = {
  policy: 'Under which policy may it work there?',
  access: 'How much may it see, and for how long?',
  refusal: 'Deny it?',
  type: 'What was wrong?',
  severity: 'How serious is it?',
}

function trustAfter(
  { effect }: ApprovalDetail,
  prompt: ChoicePrompt,
  option: string,
): number | undefined {
  if (prompt.ask !== 'type' && prompt.ask !== 'severity') return undefined
  const [type, severity] = prompt.ask === 'type' ? [option, 'medium'] : [prompt.type, option]
  return effect.overrides.find((one) => one.type === type && one.severity === severity)?.to
}

const labels = {
  filter: '/',
  reason: 'Why? ',
  resolution: 'Your answer: ',
  instructions: 'Instructions, to hand it back: ',
  until: 'Until when? (2h, 7d, 2027-03-01T18:00) ',
}

function footer({ prompt, message, size }: State): Line {
  if (!prompt) return messageLines(message, size).at(-1) ?? ['']
  if ('text' in prompt) return writingLine(labels[prompt.ask], prompt.text, size.columns)
  if (prompt.ask === 'changed') return [bold(' Approve it as you changed it?')]
  if (prompt.ask === 'conflict')
    return [styled('red', ` Blocked by the active policy: ${sanitize(prompt.why)} Approve anyway?`)]
  return ['']
}

function keysLine(state: State): string {
  const { prompt, view } = state
  if (prompt) return isChoicePrompt(prompt) ? choiceKeys : promptKeys[prompt.ask]
  if (view === 'help') return ' any key goes back'
  const item = selectedItem(state)
  const acts = keysOf(item)
  if (view === 'detail') return ` j/k scroll  n/p next  ${acts}  Esc back  ? keys`
  // Four answers leave no room for the filter; the help has it.
  return ` j/k move  Enter read  ${acts}${item && isCheck(item) ? '' : '  / filter'}  ? keys  q leave`
}

function keysOf(item: ApprovalItem | undefined): string {
  if (item?.kind === 'handoff') return 'r answer'
  return item && isCheck(item)
    ? 'a confirm  d wrong  o differently  x skip'
    : 'a approve  d deny  e edit'
}

const promptKeys: Record<Exclude<Prompt, ChoicePrompt>['ask'], string> = {
  filter: ' Enter shows what has these words  Esc leaves it',
  until: ' Enter allows it until then  Esc cancels',
  reason: ' Enter decides; the reason may be empty  Esc cancels',
  changed: ' y approves  n or Esc cancels',
  conflict: ' y approves anyway  n or Esc cancels',
  resolution: ' Enter goes on: say what you did or decided  Esc cancels',
  instructions: ' Enter answers; left empty, it is not handed back  Esc cancels',
}

const helpLines: Line[] = [
  ...keyLines(
    {
      'j k ↓ ↑': 'move, or scroll what you read',
      'Space PgUp g G': 'a page, the first, the last',
      Enter: 'read, and back',
      'n p': 'while reading: the next, the previous',
      a: 'approve; confirm a check, once you have read it',
      d: 'deny, or mark a check as wrong: asks what was wrong, and why',
      'o x': 'a check: you would have done it differently; skip it, so that it counts for nothing',
      e: 'edit the change in $VISUAL or $EDITOR, then approve',
      's S': 'snooze until you leave; bring back what is snoozed',
      z: 'undo a decision that is still held',
      '/': 'filter by words; Esc shows all again',
      r: 'answer a handoff; on all others: read again at once',
      'q Ctrl-C': 'leave',
    },
    16,
  ),
  [''],
  [dim(' High risk is held a few seconds before it counts. A key held down decides once.')],
]

const smallest = { rows: 8, columns: 40 }

export const render = (state: State): Line[] =>
  frame(state.size, smallest, 'cowork inbox --list', () => [
    head(state),
    [''],
    ...bodyLines(contents(state), promptPanel(state), bodyRows(state.size)),
    footer(state),
    [dim(keysLine(state))],
  ])

function head(state: State): Line {
  const { total, isMore, items, snoozed, filter, offline, isLoaded, size, isBusy } = state
  const facts = [
    isLoaded ? `${total} ${total === 1 ? 'waits' : 'wait'}` : 'reading …',
    ...(isMore ? [`the newest ${items.length} shown`] : []),
    ...(snoozed.size > 0 ? [`${snoozed.size} snoozed`] : []),
    ...(filter === '' ? [] : [`with “${sanitize(filter)}”`]),
  ]
  const standing = offline ? 'not connected' : isBusy ? 'deciding …' : 'live'
  return headLine('Inbox', facts, standing, offline !== undefined, size.columns)
}

function contents(state: State): Line[] {
  if (state.view === 'help') return helpLines
  if (state.view === 'detail')
    return readerLines(state)
      .slice(state.scroll)
      .map((line) => [' ', ...line])
  return list(state)
}

function list(state: State): Line[] {
  const shown = visibleItems(state)
  const at = shown.findIndex(({ id }) => id === state.selected)
  const count = itemsOnScreen(state.size)
  // By whole pages, so that moving within one moves nothing but the mark.
  const top = Math.floor(Math.max(at, 0) / count) * count
  if (shown.length === 0) return emptyLines(state)
  return shown
    .slice(top, top + count)
    .flatMap((item) => itemLines(item, item.id === state.selected, state))
}

function emptyLines({ isLoaded, filter, offline, snoozed }: State): Line[] {
  if (offline) return [[` ${sanitize(offline)}`], [dim(' It is tried again every second.')]]
  if (!isLoaded) return [[' Reading …']]
  if (filter !== '') return [[' Nothing that waits has these words.'], [dim(' Esc shows all.')]]
  if (snoozed.size > 0) return [[' Nothing else waits.'], [dim(' S shows what you snoozed.')]]
  return [[' Nothing waits for you.'], [dim(' What agents ask for appears here by itself.')]]
}

const ageColumns = 4

function itemLines(item: ApprovalItem, isSelected: boolean, state: State): Line[] {
  const { now, size } = state
  const place = placeIn(state, item)
  const mark: Span = isSelected ? styled('cyan', ' ❯ ') : '   '
  const mode = modeSpan(item)
  const room = size.columns - 3 - 12 - ageColumns - 1
  const summary = padToWidth(sanitize(item.summary), room)
  const age = formatDuration(now - Date.parse(item.created_at)).padStart(ageColumns)
  return [
    [
      mark,
      mode,
      ' '.repeat(12 - displayWidth(lineText([mode]))),
      isSelected ? bold(summary) : summary,
      dim(age),
    ],
    ['   ', ...beside(item, place, now, size.columns - 4)],
  ]
}

function placeIn({ items }: State, { id, look_back: back }: ApprovalItem): string[] {
  if (back === undefined) return []
  const rows = items.filter((item) => item.look_back === back)
  return [`look-back ${rows.findIndex((row) => row.id === id) + 1} of ${rows.length}`]
}

function beside(item: ApprovalItem, place: readonly string[], now: number, columns: number): Line {
  if (item.held || item.status !== 'pending') return statusLine(item, now)
  const { requester, domain, kind, risk, confidence, trust_level, expires_at, approvers } = item
  const time = expires_at ? [`${formatTimeLeft(Date.parse(expires_at) - now)} left`] : []
  const votes =
    approvers.needed > 1 ? [`${approvers.given.length}/${approvers.needed} approved`] : []
  const facts = [
    ...[requester, domain].map((name) => truncate(sanitize(name), 16)),
    ...(place.length > 0 ? place : [formatKind(kind)]),
    ...(trust_level === null ? [] : [`trust ${score(trust_level)}`]),
    ...(confidence === null ? [] : [`${score(confidence)} sure`]),
    ...votes,
    ...time,
  ]
  const risky: Span[] = risk === 'high' ? [styled('red', 'high risk'), dim(' · ')] : []
  return truncateLine([...risky, dim(facts.join(' · '))], columns)
}
