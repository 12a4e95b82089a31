// One set of work items in the format of cowork and of Backlog.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'

export const project = 'bench'

type Task = {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly state: 'open' | 'begun' | 'done'
  readonly priority: 'high' | 'medium' | 'low'
  /** Depends on the previous item. */
  readonly waitsFor: string | undefined
  readonly criterion: string
}

const verbs = ['Move', 'Mend', 'Measure', 'Describe', 'Replace', 'Test', 'Shorten']
const things = [
  'the index',
  'the runner',
  'the report',
  'the login page',
  'the cache',
  'the export',
]
const places = ['in staging', 'for guests', 'on Windows', 'under load', 'after a crash']
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T

const storyId = (n: number) => `STORY-${n}`

/** Deterministic by number: titles of a few words, some three lines of text, short chains. */
function buildTask(n: number): Task {
  const title = `${pick(verbs, n)} ${pick(things, n >> 1)} ${pick(places, n >> 2)}, part ${n}`
  const report = `Reported by team ${n % 37}. ${title} without asking people to wait.`
  return {
    id: storyId(n),
    title,
    text: `${report}\nThe numbers of week ${n % 52} show where it hurts.\nAsk crew-${n % 11} first.`,
    state: n % 10 < 2 ? 'done' : n % 10 === 2 ? 'begun' : 'open',
    priority: pick(['medium', 'high', 'low'] as const, n),
    waitsFor: n % 4 > 1 ? storyId(n - 1) : undefined,
    criterion: `Part ${n} is seen by crew-${n % 11}`,
  }
}

const tasks = (count: number) => Array.from({ length: count }, (_, at) => buildTask(at + 1))

const inSprint = 100
/** One item in ten is backlog, without dependencies. */
const isBacklog = (_: Task, at: number) => at % 10 === 9

export type Written = {
  /** Ids of open items, and of those without open dependencies. */
  readonly open: readonly string[]
  readonly free: readonly string[]
}

/** Creates a data root with one project of this many items. */
export function writeWork(root: string, count: number): Written {
  const all = tasks(count)
  const stories = all.filter((task, at) => !isBacklog(task, at))
  const status = { open: 'planned', begun: 'in_progress', done: 'done' } as const
  const kept = new Set(stories.map(({ id }) => id))
  const story = ({ id, title, text, state, priority, waitsFor, criterion }: Task) => ({
    id,
    title,
    status: status[state],
    priority,
    ...(waitsFor !== undefined && kept.has(waitsFor) && { depends_on: [waitsFor] }),
    acceptance: [{ text: criterion }],
    notes: text,
    rev: 1,
  })
  const sprints = Array.from({ length: Math.ceil(stories.length / inSprint) }, (_, at) => ({
    id: `sprint-${at + 1}`,
    title: `Sprint ${at + 1}`,
    status: at < 3 ? 'active' : 'planned',
    goal: `Finish parts of week ${at + 1}`,
    themes: [`theme-${at % 9}`],
    stories: stories.slice(at * inSprint, (at + 1) * inSprint).map(story),
  }))
  const listed = all.filter(isBacklog)
  const backlog = listed.map(({ id, title, state }) => ({
    id: id.toLowerCase(),
    theme: `theme-${id.length}`,
    summary: title,
    status: { open: 'todo', begun: 'in_progress', done: 'done' }[state],
    rev: 1,
  }))
  const history = Array.from({ length: 300 }, (_, at) => ({
    date: `2026-10-${String(1 + (at % 30)).padStart(2, '0')}`,
    summary: `Completed a part of week ${at}`,
    related_sprints: [`sprint-${1 + (at % sprints.length)}`],
  }))
  const folder = join(root, 'projects', project)
  mkdirSync(join(folder, 'BACKLOG'), { recursive: true })
  for (const { id, text } of listed)
    writeFileSync(join(folder, 'BACKLOG', `${id.toLowerCase()}.md`), text)
  const index = { version: 2, next_story: count + 1, sprints, backlog, history, conflicts: [] }
  writeFileSync(join(folder, 'work-index.yaml'), dump(index, { lineWidth: -1, noRefs: true }))
  writeFileSync(join(root, 'config.yaml'), `projects:\n  ${project}:\n    description: A bench\n`)
  return writtenAs(stories, (id) => id)
}

function writtenAs(tasks: readonly Task[], known: (id: string) => string): Written {
  const open = tasks.filter(({ state }) => state === 'open')
  const free = open.filter(({ waitsFor }) => waitsFor === undefined)
  return { open: open.map(({ id }) => known(id)), free: free.map(({ id }) => known(id)) }
}

/** Creates the folder of a Backlog.md project with the same items. */
export function writeBacklogMd(folder: string, count: number): Written {
  const all = tasks(count)
  const known = (id: string) => id.replace('STORY', 'TASK')
  const status = { open: 'To Do', begun: 'In Progress', done: 'Done' } as const
  mkdirSync(join(folder, 'backlog', 'tasks'), { recursive: true })
  // As written by its `init --no-git`, its fastest setup.
  writeFileSync(
    join(folder, 'backlog', 'config.yml'),
    `project_name: "${project}"
default_status: "To Do"
statuses: ["To Do", "In Progress", "Done"]
labels: []
date_format: yyyy-mm-dd
max_column_width: 20
auto_open_browser: false
default_port: 6420
remote_operations: false
auto_commit: false
filesystem_only: true
bypass_git_hooks: false
check_active_branches: false
active_branch_days: 30
task_prefix: "task"
`,
  )
  for (const [at, { id, title, text, state, priority, waitsFor, criterion }] of all.entries()) {
    const needs = waitsFor === undefined ? ' []' : `\n  - ${known(waitsFor)}`
    const words = title.replaceAll(/[^\w]+/g, '-')
    writeFileSync(
      join(folder, 'backlog', 'tasks', `${known(id).toLowerCase()} - ${words}.md`),
      `---
id: ${known(id)}
title: '${title}'
status: ${status[state]}
assignee: []
created_date: '2026-10-01 10:00'
labels: []
dependencies:${needs}
priority: ${priority}
ordinal: ${(at + 1) * 1000}
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
${text}
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 ${criterion}
<!-- AC:END -->
`,
    )
  }
  return writtenAs(all, known)
}
