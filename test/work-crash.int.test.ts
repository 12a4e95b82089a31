import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { configure, startDaemon } from './daemon.ts'
import type { Daemon } from './daemon.ts'
import type { Said } from './speakers.ts'
import { parsed } from './work.ts'

const project = 'crash'
const writers = 12

async function ask({ port, owner }: Daemon, tool: string, args: object): Promise<Said> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/tools/worksync_${tool}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { project, ...args } }),
  })
  const { output, error } = (await reply.json()) as { output?: Said; error?: unknown }
  if (!output) throw new Error(JSON.stringify(error))
  return output
}

/** Adds and finishes stories until the daemon dies; returns the last acknowledged state by id. */
async function writeUntilKilled(daemon: Daemon, round: number) {
  const acknowledged = new Map<string, 'added' | 'done'>()
  const write = async (writer: number) => {
    for (let n = 0; ; n++) {
      const title = `${round}-${writer}-${n}`
      const { story } = await ask(daemon, 'add_story', { sprint_id: 'one', title })
      const { id } = story as { id: string }
      acknowledged.set(id, 'added')
      await ask(daemon, 'done', { story_id: id })
      acknowledged.set(id, 'done')
    }
  }
  // The connection breaks when the daemon dies.
  await Promise.all(Array.from({ length: writers }, (_, n) => write(n).catch(() => undefined)))
  return acknowledged
}

test('W7 N30 a daemon killed in a burst loses no acknowledged change in store and file', async () => {
  const state = mkdtempSync(join(tmpdir(), 'cowork-work-crash-'))
  configure(state)
  const file = join(state, '.worksync', 'projects', project, 'work-index.yaml')
  const acknowledged = new Map<string, 'added' | 'done'>()
  let daemon = await startDaemon(state)
  try {
    await ask(daemon, 'register_project', {})
    await ask(daemon, 'create_sprint', { sprint_id: 'one' })
    for (const [round, wait] of [150, 400, 700].entries()) {
      const writing = writeUntilKilled(daemon, round)
      await sleep(wait)
      await daemon.kill('SIGKILL')
      for (const [id, last] of await writing) acknowledged.set(id, last)
      // The file is complete even before recovery.
      expect(parsed(readFileSync(file, 'utf8')).version).toBe(2)
      daemon = await startDaemon(state)
      await ask(daemon, 'status', {})
    }
    expect(acknowledged.size).toBeGreaterThan(writers)

    const wanted = [...acknowledged].filter(([, last]) => last === 'done').map(([id]) => id)
    const stories = () =>
      parsed(readFileSync(file, 'utf8')).sprints.flatMap((sprint) => sprint.stories ?? [])
    const missing = (ids: Iterable<string>, has: ReadonlySet<string>) =>
      [...ids].filter((id) => !has.has(id))
    await expect
      .poll(() => missing(acknowledged.keys(), new Set(stories().map(({ id }) => id))))
      .toEqual([])
    const done = new Set(stories().flatMap(({ id, status }) => (status === 'done' ? [id] : [])))
    expect(missing(wanted, done)).toEqual([])
    // Finishing and the history entry are atomic.
    const { history, conflicts, next_story } = parsed(readFileSync(file, 'utf8'))
    const refs = history.map(({ ref }) => ref)
    expect(new Set(refs).size).toBe(refs.length)
    // Old history may have moved to the archive.
    const old = join(dirname(file), 'COMPLETE', 'history.yaml')
    const moved = existsSync(old) ? parsed(readFileSync(old, 'utf8')).history : []
    expect(new Set([...refs, ...moved.map(({ ref }) => ref)])).toEqual(done)
    expect(conflicts).toEqual([])
    // A number is never reused.
    const ids = stories().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(next_story).toBe(Math.max(...ids.map((id) => Number(id.slice(6)))) + 1)
    const found = await ask(daemon, 'search', { kind: 'story', limit: 1 })
    expect(found['total']).toBe(ids.length)
  } finally {
    await daemon.kill('SIGKILL')
    rmSync(state, { recursive: true, force: true })
  }
}, 120_000)

test('W25 W7 a text acknowledged before a kill is in its file after the next start', async () => {
  const state = mkdtempSync(join(tmpdir(), 'cowork-work-crash-'))
  configure(state)
  const folder = join(state, '.worksync', 'projects', project)
  const file = join(folder, 'BACKLOG', 'later.md')
  let daemon = await startDaemon(state)
  try {
    await ask(daemon, 'register_project', {})
    const added = await ask(daemon, 'add_backlog', {
      item_id: 'later',
      summary: 'x',
      text: 'text 0',
    })
    let { text_sha256 } = added['item'] as { text_sha256: string }
    // Before, during and after the flush.
    for (const [round, wait] of [0, 240, 255, 270, 600].entries()) {
      const text = `text ${round + 1}`
      const result = await ask(daemon, 'update_backlog', { item_id: 'later', text, text_sha256 })
      ;({ text_sha256 } = result['item'] as { text_sha256: string })
      await sleep(wait)
      await daemon.kill('SIGKILL')
      daemon = await startDaemon(state)
      expect(await ask(daemon, 'get', { item_id: 'later' })).toMatchObject({ item: { text } })
      await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe(text)
    }
    expect(parsed(readFileSync(join(folder, 'work-index.yaml'), 'utf8')).conflicts).toEqual([])
  } finally {
    await daemon.kill('SIGKILL')
    rmSync(state, { recursive: true, force: true })
  }
}, 120_000)
