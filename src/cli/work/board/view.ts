import { bold, truncate, dim, padToWidth, styled } from '../../inbox/lines.ts'
import type { Line, Span } from '../../inbox/lines.ts'
import { sanitize } from '../../output.ts'
import {
  bodyLines,
  choiceKeys,
  choiceLines,
  frame,
  headerLine,
  keyLines,
  messageLines,
  inputLine,
} from '../../screen/frame.ts'
import { formatClaim, statusSpan, formatTitle, formatWorkStatus } from '../item-lines.ts'
import type { StoryBrief } from '../wire.ts'
import { isChoicePrompt } from './reduce.ts'
import type { ChoicePrompt } from './reduce.ts'
import {
  bodyRows,
  buildColumns,
  findPosition,
  readerLines,
  selectedStory,
  storiesInColumn,
} from './state.ts'
import type { Column, Prompt, State } from './state.ts'

const questions = {
  move: 'Move to',
  sprint: 'Show sprint',
  project: 'Show project',
}

function promptPanel({ prompt, message, size }: State): Line[] {
  if (!isChoicePrompt(prompt)) return prompt ? [] : messageLines(message, size).slice(0, -1)
  const { ask, options, at } = prompt
  const maxRows = Math.max(1, bodyRows(size) - 3)
  return [[''], [bold(` ${questions[ask]}`)], ...choiceLines(options, at, maxRows)]
}

const labels = {
  filter: '/',
  title: 'New story: ',
  comment: 'Comment: ',
  done: 'History entry: ',
}

function footer({ prompt, message, size }: State): Line {
  if (isChoicePrompt(prompt)) return ['']
  if (prompt) return inputLine(labels[prompt.ask], prompt.text, size.columns)
  return messageLines(message, size).at(-1) ?? ['']
}

function keysLine({ prompt, view }: State): string {
  if (prompt) return isChoicePrompt(prompt) ? choiceKeys : promptKeys[prompt.ask]
  if (view === 'help') return ' any key: back'
  return view === 'detail'
    ? ' j/k scroll  </> column  m move  d done  c claim  t comment  Esc back  ? keys'
    : ' h/j/k/l  Enter read  </> column  m move  d done  c claim  a add  s sprint  ? keys'
}

const promptKeys: Record<Exclude<Prompt, ChoicePrompt>['ask'], string> = {
  filter: ' Enter filter  Esc cancel',
  title: ' Enter add  Esc cancel',
  comment: ' Enter comment  Esc cancel',
  done: ' Enter finish (empty: title as history entry)  Esc cancel',
}

const helpLines = keyLines(
  {
    'h j k l ← ↓ ↑ →': 'move the selection',
    'Space PgUp g G': 'next page, previous page, first, last of a column',
    Enter: 'open or close a story',
    '< > H L': 'move the story to the adjacent column',
    m: 'move the story to a column or sprint',
    d: 'finish the story with a history entry',
    'c C': 'claim the story or renew the claim; release it',
    a: 'add a story',
    t: 'comment on the story',
    's p': 'show another sprint; another project',
    '/ r': 'filter (Esc clears); reload',
    'q Ctrl-C': 'quit',
  },
  17,
)

const minSize = { rows: 10, columns: 40 }
const minColumnWidth = 13

export const render = (state: State): Line[] =>
  frame(state.size, minSize, 'cowork work board --list', () => [
    boardHeader(state),
    [''],
    ...bodyLines(
      bodyContent(state),
      [selectedLine(state), ...promptPanel(state)],
      state.size.rows - 4,
    ),
    footer(state),
    [dim(keysLine(state))],
  ])

function boardHeader(state: State): Line {
  const { project, sprint, sprints, filter, isStale, offline, isBusy, isLoaded, size } = state
  const shownSprint = sprints.find(({ id }) => id === sprint)
  const facts = [
    sanitize(project),
    ...(shownSprint
      ? [
          `${sanitize(shownSprint.id)} ${shownSprint.title === undefined ? '' : sanitize(shownSprint.title)}`.trim(),
          `${shownSprint.done} of ${shownSprint.stories} done`,
        ]
      : [isLoaded ? 'no sprint' : 'loading …']),
    ...(filter === '' ? [] : [`filter “${sanitize(filter)}”`]),
  ]
  const connectionState = offline
    ? 'not connected'
    : isStale
      ? 'file invalid'
      : isBusy
        ? 'saving …'
        : 'live'
  return headerLine('Board', facts, connectionState, offline !== undefined || isStale, size.columns)
}

function bodyContent(state: State): Line[] {
  if (state.view === 'help') return helpLines
  if (state.view === 'detail')
    return readerLines(state)
      .slice(state.scroll)
      .map((line) => [' ', ...line])
  const { offline, isLoaded, sprint, stories, filter } = state
  if (offline !== undefined && !isLoaded) return [[` ${sanitize(offline)}`]]
  if (!isLoaded) return [[' Loading …']]
  if (sprint === undefined)
    return [[' No sprints'], [dim(' Create one with `cowork work sprint <id>`.')]]
  const columns = buildColumns(state)
  const isEmpty = columns.every((column) => column.stories.length === 0)
  if (isEmpty && filter !== '') return [[' No matches'], [dim(' Press Esc to clear the filter.')]]
  if (stories.length === 0) return [[' No stories'], [dim(' Press a to add one.')]]
  return boardLines(state, columns)
}

function boardLines({ size, selected }: State, columns: readonly Column[]): Line[] {
  const position = findPosition(columns, selected)
  const count = Math.min(columns.length, Math.max(1, Math.floor(size.columns / minColumnWidth)))
  const first = Math.min(
    Math.max(0, (position?.column ?? 0) - count + 1),
    Math.max(0, columns.length - count),
  )
  const width = Math.floor(size.columns / count)
  const shown = columns.slice(first, first + count)
  const maxStories = storiesInColumn(size)
  const cells = shown.map(({ stories }, at) => {
    // Scroll by pages, so that moving within a page moves only the selection mark.
    const row = position?.column === first + at ? position.row : 0
    const top = Math.floor(row / maxStories) * maxStories
    return stories.slice(top, top + maxStories)
  })
  const names = shown.map(({ status, stories }): Span => {
    const text = padToWidth(` ${formatWorkStatus(status)} ${stories.length}`, width)
    return status === columns[position?.column ?? -1]?.status ? bold(text) : dim(text)
  })
  const rows = Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, row) => [
    cells.map((own): Span => idCell(own[row], selected, width)),
    cells.map((own): Span => titleCell(own[row], selected, width)),
  ])
  return [names, ...rows.flat()]
}

const marks: Readonly<Record<string, string>> = { urgent: '‼', high: '!', low: '↓' }

/** Formats the first line of a story: id, priority mark and claim. */
function idCell(story: StoryBrief | undefined, selected: string | undefined, width: number): Span {
  if (!story) return ' '.repeat(width)
  const mark = marks[story.priority ?? '']
  const facts = [
    sanitize(story.id),
    ...(mark === undefined ? [] : [mark]),
    ...(story.claimed_by === undefined ? [] : [`@${sanitize(story.claimed_by)}`]),
  ]
  const isSelected = story.id === selected
  const text = padToWidth(`${isSelected ? '❯' : ' '}${truncate(facts.join(' '), width - 2)}`, width)
  return isSelected ? styled('cyan', text) : text
}

function titleCell(
  story: StoryBrief | undefined,
  selected: string | undefined,
  width: number,
): Span {
  if (!story) return ' '.repeat(width)
  const text = padToWidth(` ${truncate(formatTitle(story), width - 2)}`, width)
  return story.id === selected ? bold(text) : dim(text)
}

/** Formats the selected story in full width, because columns truncate it. */
function selectedLine(state: State): Line {
  const story = selectedStory(state)
  if (!story || state.view !== 'board' || isChoicePrompt(state.prompt)) return ['']
  const { priority, estimate, depends_on: needs = [], claimed_by: agent, until = '' } = story
  const facts = [
    ...(priority === undefined ? [] : [`${sanitize(priority)} priority`]),
    ...(estimate === undefined ? [] : [`estimate ${estimate}`]),
    ...(agent === undefined ? [] : [formatClaim(agent, until, state.now)]),
    ...(needs.length > 0 ? [`depends on ${sanitize(needs.join(', '))}`] : []),
  ]
  return [
    ' ',
    statusSpan(story.status),
    ' ',
    bold(truncate(formatTitle(story), Math.max(20, state.size.columns - 40))),
    dim(facts.length > 0 ? ` · ${facts.join(' · ')}` : ''),
  ]
}
