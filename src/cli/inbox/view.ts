import type { Item } from '../approvals.ts'
import { plain } from '../plain.ts'
import { kindName, modeSpan, score, stateLine } from './detail.ts'
import { foot, helpLines, keysLine, panelOf } from './foot.ts'
import { bold, columnsOf, cut, cutLine, dim, fit, left, looking, span, textOf } from './lines.ts'
import type { Line, Span } from './lines.ts'
import { bodyRows, itemsOnScreen, readable, visible } from './state.ts'
import type { State } from './state.ts'

const smallest = { rows: 8, columns: 40 }

/** The whole screen: as many lines as it has rows, none wider than its columns. */
export function render(state: State): Line[] {
  const { rows, columns } = state.size
  const lines =
    rows < smallest.rows || columns < smallest.columns
      ? [['The window is too small.'], ['Enlarge it, or q and `cowork inbox --list`.']]
      : [head(state), [''], ...body(state), foot(state), [dim(keysLine(state))]]
  const missing = Math.max(0, rows - lines.length)
  return [...lines, ...Array.from({ length: missing }, () => [''])]
    .slice(0, rows)
    .map((line) => cutLine(line, columns))
}

function head({
  total,
  isMore,
  items,
  snoozed,
  filter,
  offline,
  isLoaded,
  size,
  isBusy,
}: State): Line {
  const facts = [
    isLoaded ? `${total} ${total === 1 ? 'waits' : 'wait'}` : 'reading …',
    ...(isMore ? [`the newest ${items.length} shown`] : []),
    ...(snoozed.size > 0 ? [`${snoozed.size} snoozed`] : []),
    ...(filter === '' ? [] : [`with “${plain(filter)}”`]),
  ]
  const state = offline ? 'not connected' : isBusy ? 'deciding …' : 'live'
  const room = size.columns - ' Inbox'.length - columnsOf(state) - 2
  return [
    bold(' Inbox'),
    fit(` ${facts.join(' · ')}`, room),
    ' ',
    offline ? looking('red', state) : dim(state),
  ]
}

function body(state: State): Line[] {
  const room = bodyRows(state.size)
  const panel = panelOf(state)
  const lines = contents(state).slice(0, room - panel.length)
  const gap = Array.from({ length: room - panel.length - lines.length }, () => [''])
  return [...lines, ...gap, ...panel]
}

function contents(state: State): Line[] {
  if (state.view === 'help') return helpLines
  if (state.view === 'detail')
    return readable(state)
      .slice(state.scroll)
      .map((line) => [' ', ...line])
  return list(state)
}

function list(state: State): Line[] {
  const shown = visible(state)
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
  if (offline) return [[` ${plain(offline)}`], [dim(' It is tried again every second.')]]
  if (!isLoaded) return [[' Reading …']]
  if (filter !== '') return [[' Nothing that waits has these words.'], [dim(' Esc shows all.')]]
  if (snoozed.size > 0) return [[' Nothing else waits.'], [dim(' S shows what you snoozed.')]]
  return [[' Nothing waits for you.'], [dim(' What agents ask for appears here by itself.')]]
}

const ageColumns = 4

function itemLines(item: Item, isSelected: boolean, state: State): Line[] {
  const { now, size } = state
  const place = placeIn(state, item)
  const mark: Span = isSelected ? looking('cyan', ' ❯ ') : '   '
  const mode = modeSpan(item)
  const room = size.columns - 3 - 12 - ageColumns - 1
  const summary = fit(plain(item.summary), room)
  const age = span(now - Date.parse(item.created_at)).padStart(ageColumns)
  return [
    [
      mark,
      mode,
      ' '.repeat(12 - columnsOf(textOf([mode]))),
      isSelected ? bold(summary) : summary,
      dim(age),
    ],
    ['   ', ...beside(item, place, now, size.columns - 4)],
  ]
}

/** Where it is among the rows of its look-back. */
function placeIn({ items }: State, { id, look_back: back }: Item): string[] {
  if (back === undefined) return []
  const rows = items.filter((item) => item.look_back === back)
  return [`look-back ${rows.findIndex((row) => row.id === id) + 1} of ${rows.length}`]
}

/** The second line of an item: who and where, or what has become of it. */
function beside(item: Item, place: readonly string[], now: number, columns: number): Line {
  if (item.held || item.status !== 'pending') return stateLine(item, now)
  const { requester, domain, kind, risk, confidence, trust_level, expires_at, approvers } = item
  const time = expires_at ? [`${left(Date.parse(expires_at) - now)} left`] : []
  const votes =
    approvers.needed > 1 ? [`${approvers.given.length}/${approvers.needed} approved`] : []
  const facts = [
    ...[requester, domain].map((name) => cut(plain(name), 16)),
    ...(place.length > 0 ? place : [kindName(kind)]),
    ...(trust_level === null ? [] : [`trust ${score(trust_level)}`]),
    ...(confidence === null ? [] : [`${score(confidence)} sure`]),
    ...votes,
    ...time,
  ]
  const risky: Span[] = risk === 'high' ? [looking('red', 'high risk'), dim(' · ')] : []
  return cutLine([...risky, dim(facts.join(' · '))], columns)
}
