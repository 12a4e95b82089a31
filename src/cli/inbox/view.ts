import { isCheck } from '../approvals.ts'
import type { ApprovalDetail, ApprovalItem } from '../approvals.ts'
import { sanitize } from '../output.ts'
import {
  bodyLines,
  choiceKeys,
  choiceLines,
  frame,
  headerLine,
  keyLines,
  messageLines,
  inputLine,
} from '../screen/frame.ts'
import { formatKind, modeSpan, formatScore, statusLine } from './detail.ts'
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
  if (isChoicePrompt(prompt)) return choicePanel(state, prompt)
  return prompt ? [] : messageLines(message, size).slice(0, -1)
}

function choicePanel({ detail, size }: State, prompt: ChoicePrompt): Line[] {
  const options = listOptions(prompt)
  const about = detail?.id === prompt.id ? detail : undefined
  const width = Math.max(...options.map((option) => displayWidth(sanitize(option))))
  const labels = options.map((option) => {
    const to = about && trustAfter(about, prompt, option)
    const beside = to === undefined ? '' : `  trust ${formatScore(to)}`
    return { label: padToWidth(sanitize(option), width), beside }
  })
  const consequence = about?.check?.consequences.wrong
  return [
    [''],
    [bold(` ${questions[prompt.ask]}`)],
    ...(consequence === undefined
      ? []
      : wrapLine([dim(` ${sanitize(consequence)}`)], size.columns - 1)),
    ...choiceLines(labels, prompt.at, Math.max(1, bodyRows(size) - 4)),
  ]
}

const questions = {
  policy: 'Which policy applies in this domain?',
  access: 'Which access do you allow?',
  refusal: 'Deny?',
  type: 'What kind of error?',
  severity: 'How severe?',
}

function trustAfter(
  { effect }: ApprovalDetail,
  prompt: ChoicePrompt,
  option: string,
): number | undefined {
  if (prompt.ask !== 'type' && prompt.ask !== 'severity') return undefined
  const [type, severity] = prompt.ask === 'type' ? [option, 'medium'] : [prompt.type, option]
  return effect.overrides.find(
    (override) => override.type === type && override.severity === severity,
  )?.to
}

const labels = {
  filter: '/',
  reason: 'Reason: ',
  resolution: 'Resolution: ',
  instructions: 'Instructions (to hand back): ',
  until: 'Allow until (2h, 7d, 2027-03-01T18:00): ',
}

function footer({ prompt, message, size }: State): Line {
  if (!prompt) return messageLines(message, size).at(-1) ?? ['']
  if ('text' in prompt) return inputLine(labels[prompt.ask], prompt.text, size.columns)
  if (prompt.ask === 'changed') return [bold(' Approve with your changes?')]
  if (prompt.ask === 'conflict')
    return [styled('red', ` Blocked by the active policy: ${sanitize(prompt.why)} Approve anyway?`)]
  return ['']
}

function formatKeys(state: State): string {
  const { prompt, view } = state
  if (prompt) return isChoicePrompt(prompt) ? choiceKeys : promptKeys[prompt.ask]
  if (view === 'help') return ' any key: back'
  const item = selectedItem(state)
  const actions = itemKeys(item)
  if (view === 'detail') return ` j/k scroll  n/p next  ${actions}  Esc back  ? keys`
  // Spot checks have four actions, so the filter key is only in the help.
  return ` j/k move  Enter read  ${actions}${item && isCheck(item) ? '' : '  / filter'}  ? keys  q quit`
}

function itemKeys(item: ApprovalItem | undefined): string {
  if (item?.kind === 'handoff') return 'r resolve'
  return item && isCheck(item)
    ? 'a confirm  d wrong  o prefer  x skip'
    : 'a approve  d reject  e edit'
}

const promptKeys: Record<Exclude<Prompt, ChoicePrompt>['ask'], string> = {
  filter: ' Enter filters  Esc cancels',
  until: ' Enter allows  Esc cancels',
  reason: ' Enter decides (reason optional)  Esc cancels',
  changed: ' y approves  n or Esc cancels',
  conflict: ' y approves anyway  n or Esc cancels',
  resolution: ' Enter continues: what you did or decided  Esc cancels',
  instructions: ' Enter resolves (empty: not handed back)  Esc cancels',
}

const helpLines: Line[] = [
  ...keyLines(
    {
      'j k ↓ ↑': 'move or scroll',
      'Space PgUp g G': 'page down, page up, first, last',
      Enter: 'open, and back',
      'n p': 'next and previous item',
      a: 'approve; confirm an opened spot check',
      d: 'reject, or mark a spot check as wrong',
      'o x': 'spot check: prefer another way; skip without trust change',
      e: 'edit the change in $VISUAL or $EDITOR, then approve',
      's S': 'snooze until you quit; show snoozed items',
      z: 'undo the last decision',
      '/': 'filter by text; Esc clears the filter',
      r: 'resolve a handoff; otherwise reload',
      'q Ctrl-C': 'quit',
    },
    16,
  ),
  [''],
  [dim(' High-risk decisions can be undone for a few seconds. A held key decides once.')],
]

const minSize = { rows: 8, columns: 40 }

export const render = (state: State): Line[] =>
  frame(state.size, minSize, 'cowork inbox --list', () => [
    inboxHeader(state),
    [''],
    ...bodyLines(contents(state), promptPanel(state), bodyRows(state.size)),
    footer(state),
    [dim(formatKeys(state))],
  ])

function inboxHeader(state: State): Line {
  const { total, isMore, items, snoozed, filter, offline, isLoaded, size, isBusy } = state
  const facts = [
    isLoaded ? `${total} pending` : 'loading …',
    ...(isMore ? [`showing the newest ${items.length}`] : []),
    ...(snoozed.size > 0 ? [`${snoozed.size} snoozed`] : []),
    ...(filter === '' ? [] : [`filter “${sanitize(filter)}”`]),
  ]
  const connection = offline ? 'not connected' : isBusy ? 'deciding …' : 'live'
  return headerLine('Inbox', facts, connection, offline !== undefined, size.columns)
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
  // Full pages, so that moving within a page moves only the marker.
  const top = Math.floor(Math.max(at, 0) / count) * count
  if (shown.length === 0) return emptyLines(state)
  return shown
    .slice(top, top + count)
    .flatMap((item) => itemLines(item, item.id === state.selected, state))
}

function emptyLines({ isLoaded, filter, offline, snoozed }: State): Line[] {
  if (offline) return [[` ${sanitize(offline)}`], [dim(' Retrying every second.')]]
  if (!isLoaded) return [[' Loading …']]
  if (filter !== '') return [[' No matches.'], [dim(' Press Esc to clear the filter.')]]
  if (snoozed.size > 0)
    return [[' No other pending items.'], [dim(' Press S to show snoozed items.')]]
  return [[' Inbox is empty.'], [dim(' Requests that need approval appear here.')]]
}

const ageColumns = 4

function itemLines(item: ApprovalItem, isSelected: boolean, state: State): Line[] {
  const { now, size } = state
  const position = formatLookBackPosition(state, item)
  const mark: Span = isSelected ? styled('cyan', ' ❯ ') : '   '
  const mode = modeSpan(item)
  const width = size.columns - 3 - 12 - ageColumns - 1
  const summary = padToWidth(sanitize(item.summary), width)
  const age = formatDuration(now - Date.parse(item.created_at)).padStart(ageColumns)
  return [
    [
      mark,
      mode,
      ' '.repeat(12 - displayWidth(lineText([mode]))),
      isSelected ? bold(summary) : summary,
      dim(age),
    ],
    ['   ', ...itemFacts(item, position, now, size.columns - 4)],
  ]
}

function formatLookBackPosition({ items }: State, { id, look_back: back }: ApprovalItem): string[] {
  if (back === undefined) return []
  const rows = items.filter((item) => item.look_back === back)
  return [`look-back ${rows.findIndex((row) => row.id === id) + 1} of ${rows.length}`]
}

function itemFacts(
  item: ApprovalItem,
  position: readonly string[],
  now: number,
  columns: number,
): Line {
  if (item.held || item.status !== 'pending') return statusLine(item, now)
  const { requester, domain, kind, risk, confidence, trust_level, expires_at, approvers } = item
  const time = expires_at ? [`${formatTimeLeft(Date.parse(expires_at) - now)} left`] : []
  const votes =
    approvers.needed > 1 ? [`${approvers.given.length}/${approvers.needed} approved`] : []
  const facts = [
    ...[requester, domain].map((name) => truncate(sanitize(name), 16)),
    ...(position.length > 0 ? position : [formatKind(kind)]),
    ...(trust_level === null ? [] : [`trust ${formatScore(trust_level)}`]),
    ...(confidence === null ? [] : [`confidence ${formatScore(confidence)}`]),
    ...votes,
    ...time,
  ]
  const risky: Span[] = risk === 'high' ? [styled('red', 'high risk'), dim(' · ')] : []
  return truncateLine([...risky, dim(facts.join(' · '))], columns)
}
