import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '#base/log.ts'
import { openTestLedger } from './ledger.ts'
import { createProjectCache } from '../src/work/project-cache.ts'
import { importProject } from '../src/work/disk/import-edit.ts'
import { createProjectSync } from '../src/work/disk/project-sync.ts'
import { parsed } from './work/work.fixture.ts'
import { createJournal } from '../src/work/journal.ts'
import { workMigrations } from '../src/work/migrations.ts'
import type { Story } from '../src/work/model.ts'
import { createWorkStore } from '../src/work/store.ts'

export { parsed, findStory } from './work/work.fixture.ts'

export const sampleText = `# yaml-language-server: $schema=./SCHEMA/work-flow-schema.json
version: 2
next_story: 4
sprints:
  - id: one   # the running one
    title: One
    status: active
    stories:
      - id: STORY-1
        title: First
        status: planned
        notes: as it was
        depends_on: [STORY-2]
      # a word between
      - id: STORY-2
        title: Second
        status: planned
      - id: STORY-3
        title: Third
        status: planned
backlog:
  - id: later
    summary: Later
    status: todo
history: []
conflicts: []
`

/** Opens a project on disk and in a real store, in sync. */
export async function openTestWork(text = sampleText) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-work-'))
  mkdirSync(join(folder, 'p'))
  const path = join(folder, 'p', 'work-index.yaml')
  writeFileSync(path, text)
  const ledger = await openTestLedger(workMigrations)
  const { db } = ledger
  const store = createWorkStore(db.dialect)
  const journal = createJournal(store)
  await db.transact((tx) => importProject(tx, store, 'p', parsed(text)))
  const open = (now = Date.now) => {
    const snapshots = createProjectCache(db, store)
    const projectSync = createProjectSync({
      db,
      store,
      snapshots,
      journal,
      folderOf: (project) => join(folder, project),
      isProtected: (path) => path.includes('/.ssh/'),
      now,
      log: silentLog,
    })
    return { snapshots, projectSync }
  }
  /** Changes an item as a tool does, without a ledger entry. */
  const set = (id: string, fields: Partial<Story>) =>
    db.transact(async (tx) => {
      const held = await journal.lockProject(tx, 'p')
      const before = await store.item(tx, 'p', 'story', id)
      if (!before) throw new Error(`no story ${id}`)
      const item = { ...before.item, ...fields }
      const step = { kind: 'story' as const, id, before, after: { item } }
      await journal.write(tx, held, { by: 'agent', at: Date.now() }, [step])
    })
  return {
    ...ledger,
    folder,
    path,
    store,
    journal,
    open,
    set,
    text: () => readFileSync(path, 'utf8'),
    index: () => parsed(readFileSync(path, 'utf8')),
  }
}
