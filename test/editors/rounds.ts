// W41: a program changes work items continuously while a person edits the file. All changes are followed through the
// history, so that no loss goes unnoticed.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqlite } from '#base/db/sqlite.ts'
import { createWorld } from '../work/work.fixture.ts'
import type { Desk, Engine } from '../work/work.fixture.ts'
import type { Change } from '../../src/work/model.ts'
import { createWorkStore } from '../../src/work/store.ts'
import { seeded } from '../seeded.ts'
import { parsed } from '../work.ts'
import { styles } from './editor.ts'
import type { Edit, Style } from './editor.ts'
import { judge } from './judge.ts'
import type { Done } from './judge.ts'
import { guardFiles } from '../guarded-files.ts'

const project = 'shared'
/** A late save is detected within this time after the last one. */
const patience = 8000

const engine: Engine = {
  dialect: 'sqlite',
  guardFiles,
  async create() {
    const path = join(mkdtempSync(join(tmpdir(), 'cowork-editors-')), 'cowork.db')
    return { open: async (sealer) => openSqlite(path, sealer) }
  },
}

const storyText = (id: string) =>
  `      - id: ${id}\n        title: Story ${id}\n        status: planned\n        notes: start\n        estimate: 0\n        paths: [base]\n`
const ids = (letter: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${letter}-${at + 1}`)
const [shared, doomed] = [ids('s', 5), ids('d', 6)]
const planText = `# The plan of both
version: 2
next_story: 1
sprints:
  - id: one
    status: active
    stories:
${[...shared, ...doomed].map(storyText).join('')}backlog: []
history: []
conflicts: []
`

export type EditorResult = {
  readonly edits: number
  readonly mutations: number
  /** Open conflicts: both sides changed the same value. */
  readonly conflicts: number
  /** Descriptions of lost changes; empty if none. */
  readonly lost: readonly string[]
}

/** A program that makes changes in a loop and records the acknowledged ones. */
function createProgram(desk: Desk, random: () => number) {
  const done: Done = { mutations: 0, estimates: new Map(), paths: [], history: [], comments: [] }
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? ''
  const update = (story_id: string, more: object) =>
    desk.ask('update_story', { project, story_id, ...more })
  const acts = [
    async (n: number) => {
      const id = pick([...shared, ...doomed])
      await update(id, { estimate: n })
      done.estimates.set(id, n)
    },
    (n: number) => update(pick(shared), { notes: `agent-${n}` }),
    async (n: number) => {
      const id = pick(shared)
      const { story } = await desk.ask('get', { project, story_id: id })
      // A story has a hundred at most.
      if ((story.paths ?? []).length > 90) return
      const paths = [...(story.paths ?? []), `agent-${n}`]
      await update(id, { paths, expect_rev: story.rev })
      done.paths.push({ id, marker: `agent-${n}` })
    },
    async (n: number) => {
      await desk.ask('history', { project, summary: `agent-${n}` })
      done.history.push(`agent-${n}`)
    },
    async (n: number) => {
      const id = pick(shared)
      await desk.ask('comment', { project, story_id: id, text: `agent-${n}` })
      done.comments.push({ id, marker: `agent-${n}` })
    },
  ]
  /** A person deleted or changed the item, or the file is partly written: continue with the next one. */
  const usual = new Set(['not_found', 'stale_rev', 'work_file_broken'])
  const isUsual = (error: unknown) =>
    error instanceof Error && 'code' in error && usual.has(String(error.code))
  return {
    done,
    async act(): Promise<void> {
      const n = done.mutations + 1
      const one = acts[Math.floor(random() * acts.length)]
      await one?.(n).catch((error: unknown) => {
        if (!isUsual(error)) throw error
      })
      done.mutations = n
    },
  }
}

/** Reads the archived history. */
function archivedIn(folder: string) {
  const path = join(folder, 'COMPLETE', 'history.yaml')
  return existsSync(path) ? parsed(readFileSync(path, 'utf8')).history : []
}

async function round(style: Style, edits: number, seed: number): Promise<EditorResult> {
  const world = await createWorld(engine)
  const folder = join(world.root, 'projects', project)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'work-index.yaml')
  writeFileSync(path, planText)
  const desk = await world.start()
  await desk.ask('register_project', { project })
  const store = createWorkStore('sqlite')
  const changes: Change[] = []
  const follow = async () => {
    const seen = changes.at(-1)?.seq ?? 0
    changes.push(...(await store.changesSince(desk.db, project, seen)))
  }

  const made: Edit[] = []
  const script = join(import.meta.dirname, 'editor.ts')
  const editor = spawn(process.execPath, [script, path, style, String(edits), String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface(editor.stdout).on('line', (line) => made.push(JSON.parse(line) as Edit))
  let isEditing = true
  editor.on('close', () => (isEditing = false))

  const { act, done } = createProgram(desk, seeded(seed + 1))
  try {
    while (isEditing) {
      await act()
      await follow()
    }
    let lost: readonly string[] = []
    for (const end = Date.now() + patience; ;) {
      await desk.ask('status', { project })
      await follow()
      const text = await desk.text(project)
      const board = await desk.work.snapshots.current(project)
      const final = { index: board.index(), file: parsed(text), archived: archivedIn(folder) }
      lost = judge({ edits: made, done, changes, ...final })
      if (lost.length === 0 || Date.now() > end) break
    }
    if (editor.exitCode !== 0) lost = [...lost, `the editor ended with ${editor.exitCode}`]
    const conflicts = changes.filter(({ kind, op }) => kind === 'conflict' && op === 'add').length
    const details = lost.map((text) => `${style}, seed ${seed}: ${text}`)
    return { edits: made.length, mutations: done.mutations, conflicts, lost: details }
  } finally {
    editor.kill()
    await desk.stop()
    rmSync(world.root, { recursive: true, force: true })
  }
}

/** Runs the rounds, each with another style of saving. */
export async function editorRounds(options: {
  readonly rounds: number
  readonly edits: number
  readonly seed: number
  readonly onRound?: (round: number, result: EditorResult) => void
}): Promise<EditorResult> {
  let sum: EditorResult = { edits: 0, mutations: 0, conflicts: 0, lost: [] }
  for (let n = 0; n < options.rounds; n++) {
    const style = styles[n % styles.length] as Style
    const one = await round(style, options.edits, options.seed + n)
    sum = {
      edits: sum.edits + one.edits,
      mutations: sum.mutations + one.mutations,
      conflicts: sum.conflicts + one.conflicts,
      lost: [...sum.lost, ...one.lost],
    }
    options.onRound?.(n + 1, one)
  }
  return sum
}
