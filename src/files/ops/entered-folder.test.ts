import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { ops } from './index.ts'

/** Starts operations whose call is not recorded yet. */
function startOperations() {
  const world = openTestOps()
  onTestFinished(() => world.close())
  const entry = Promise.withResolvers<void>()
  entry.promise.catch(() => undefined)
  const context: OpContext = { ...world.context, waitForEntry: () => entry.promise }
  const run = <O extends 'write' | 'edit'>(op: O, ask: OpRequest<O>, body = '') => {
    const act = ops[op] as RunOp<O>
    const answer = Promise.resolve(act(context, ask, Buffer.from(body), () => false))
    answer.catch(() => undefined)
    return answer
  }
  /** Names that other programs see. */
  const visible = () =>
    readdirSync(world.workspace, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.endsWith('.tmp'),
    )
  return {
    ...world,
    /** Runs an operation whose call is recorded. */
    runEntered: world.run,
    entry,
    run,
    visible,
    text: (name: string) => readFileSync(join(world.workspace, name), 'utf8'),
  }
}

const waitBriefly = () => sleep(60)

test('L1 a new file does not exist before its call is recorded', async () => {
  const { entry, run, visible, text } = startOperations()
  const answer = run(
    'write',
    { at: inWorkspace('new.txt'), writeMode: 'create', encoding: 'utf-8' },
    'hello',
  )
  await waitBriefly()
  expect(visible()).not.toContain('new.txt')
  entry.resolve()
  await answer
  expect(text('new.txt')).toBe('hello')
})

test('L1 parent folders are not created before it either', async () => {
  const { entry, run, visible, text } = startOperations()
  const answer = run(
    'write',
    { at: inWorkspace('a/b/new.txt'), writeMode: 'create', encoding: 'utf-8' },
    'hello',
  )
  await waitBriefly()
  expect(visible()).not.toContain('a')
  entry.resolve()
  await answer
  expect(text('a/b/new.txt')).toBe('hello')
})

test('L1 a changed file keeps its content and has no backup until its call is recorded', async () => {
  const { entry, run, put, visible, text } = startOperations()
  put({ 'notes.txt': 'one two' })
  const edits = [{ old: 'two', new: 'three' }]
  const answer = run('edit', { at: inWorkspace('notes.txt'), edits, backup: true })
  await waitBriefly()
  expect(text('notes.txt')).toBe('one two')
  expect(visible()).not.toContain('notes.txt.bak')
  entry.resolve()
  await answer
  expect(text('notes.txt')).toBe('one three')
  expect(visible()).toContain('notes.txt.bak')
})

test('L1 a change that cannot be recorded is not made and leaves nothing behind', async () => {
  const { entry, run, put, workspace, text } = startOperations()
  put({ 'notes.txt': 'one two' })
  const answers = [
    run('write', { at: inWorkspace('new.txt'), writeMode: 'create', encoding: 'utf-8' }, 'hello'),
    run('write', { at: inWorkspace('a/new.txt'), writeMode: 'create', encoding: 'utf-8' }, 'hello'),
    run('edit', { at: inWorkspace('notes.txt'), edits: [{ old: 'two', new: 'three' }] }),
  ]
  await waitBriefly()
  entry.reject(new Error('not recorded'))
  for (const answer of answers) await expect(answer).rejects.toThrow('not recorded')
  expect(text('notes.txt')).toBe('one two')
  expect(existsSync(join(workspace, 'a'))).toBe(false)
  expect(readdirSync(workspace).filter((name) => name !== 'notes.txt')).toEqual([])
})

test('FT4 does not overwrite a file that another program saved while the call waited', async () => {
  const { entry, run, put, text } = startOperations()
  put({ 'notes.txt': 'one two' })
  const answer = run('edit', {
    at: inWorkspace('notes.txt'),
    edits: [{ old: 'two', new: 'three' }],
  })
  await waitBriefly()
  put({ 'notes.txt': 'saved by an editor' })
  entry.resolve()
  await expect(answer).rejects.toThrow('changed by another program')
  expect(text('notes.txt')).toBe('saved by an editor')
})

describe('during a change that waits for its entry', () => {
  const at = inWorkspace('d/f.txt')
  const edits = [{ old: 'old', new: 'new' }]

  test.each([
    ['the file', 'd/f.txt', 'd/g.txt', 'd/g.txt'],
    ['its folder', 'd', 'e', 'e/f.txt'],
  ])('TR3 a move of %s waits until the change is done', async (_, from, to, moved) => {
    const { entry, put, run, runEntered, text } = startOperations()
    put({ 'd/f.txt': 'old' })
    const done: string[] = []
    const editing = run('edit', { at, edits }).then(() => done.push('edit'))
    const ask = { from: inWorkspace(from), to: inWorkspace(to) }
    const moving = runEntered('move', ask).then(() => done.push('move'))
    await waitBriefly()
    entry.resolve()
    await Promise.all([editing, moving])
    expect(done).toEqual(['edit', 'move'])
    expect(text(moved)).toBe('new')
  })

  test('TR1 deleting waits too, and later calls do not find the file', async () => {
    const { entry, put, run, runEntered, refusal, top } = startOperations()
    put({ 'd/f.txt': 'old' })
    const editing = run('edit', { at, edits })
    const trashing = runEntered('trash', { at: inWorkspace('d'), id: 'id-1', record: {} })
    const late = refusal('edit', { at, edits })
    await waitBriefly()
    entry.resolve()
    await Promise.all([editing, trashing])
    expect(await late).toBe('not_found')
    expect(readFileSync(join(top, 'trash/id-1/content/f.txt'), 'utf8')).toBe('new')
  })
})
