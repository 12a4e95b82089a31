import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { ops } from './index.ts'

/** An operation whose call is not on record yet. */
function begin() {
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
  /** What anybody else finds there. */
  const visible = () =>
    readdirSync(world.workspace, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.endsWith('.tmp'),
    )
  return {
    ...world,
    /** One whose call is. */
    runEntered: world.run,
    entry,
    run,
    visible,
    text: (name: string) => readFileSync(join(world.workspace, name), 'utf8'),
  }
}

const aWhile = () => sleep(60)

test('L1 a new file is not there before its call is on record', async () => {
  const { entry, run, visible, text } = begin()
  const answer = run(
    'write',
    { at: inWorkspace('new.txt'), writeMode: 'create', encoding: 'utf-8' },
    'hello',
  )
  await aWhile()
  expect(visible()).not.toContain('new.txt')
  entry.resolve()
  await answer
  expect(text('new.txt')).toBe('hello')
})

test('L1 folders on the way are not made before it either', async () => {
  const { entry, run, visible, text } = begin()
  const answer = run(
    'write',
    { at: inWorkspace('a/b/new.txt'), writeMode: 'create', encoding: 'utf-8' },
    'hello',
  )
  await aWhile()
  expect(visible()).not.toContain('a')
  entry.resolve()
  await answer
  expect(text('a/b/new.txt')).toBe('hello')
})

test('L1 a file that is changed is as it was, and has no backup, until its call is on record', async () => {
  const { entry, run, put, visible, text } = begin()
  put({ 'notes.txt': 'one two' })
  const edits = [{ old: 'two', new: 'three' }]
  const answer = run('edit', { at: inWorkspace('notes.txt'), edits, backup: true })
  await aWhile()
  expect(text('notes.txt')).toBe('one two')
  expect(visible()).not.toContain('notes.txt.bak')
  entry.resolve()
  await answer
  expect(text('notes.txt')).toBe('one three')
  expect(visible()).toContain('notes.txt.bak')
})

test('L1 what cannot be recorded is not done, and leaves nothing behind', async () => {
  const { entry, run, put, workspace, text } = begin()
  put({ 'notes.txt': 'one two' })
  const answers = [
    run('write', { at: inWorkspace('new.txt'), writeMode: 'create', encoding: 'utf-8' }, 'hello'),
    run('write', { at: inWorkspace('a/new.txt'), writeMode: 'create', encoding: 'utf-8' }, 'hello'),
    run('edit', { at: inWorkspace('notes.txt'), edits: [{ old: 'two', new: 'three' }] }),
  ]
  await aWhile()
  entry.reject(new Error('not recorded'))
  for (const answer of answers) await expect(answer).rejects.toThrow('not recorded')
  expect(text('notes.txt')).toBe('one two')
  expect(existsSync(join(workspace, 'a'))).toBe(false)
  expect(readdirSync(workspace).filter((name) => name !== 'notes.txt')).toEqual([])
})

test('FT4 what somebody else saved meanwhile is not overwritten', async () => {
  const { entry, run, put, text } = begin()
  put({ 'notes.txt': 'one two' })
  const answer = run('edit', {
    at: inWorkspace('notes.txt'),
    edits: [{ old: 'two', new: 'three' }],
  })
  await aWhile()
  put({ 'notes.txt': 'saved by an editor' })
  entry.resolve()
  await expect(answer).rejects.toThrow('changed by another program')
  expect(text('notes.txt')).toBe('saved by an editor')
})

describe('beside a change that waits for its entry', () => {
  const at = inWorkspace('d/f.txt')
  const edits = [{ old: 'old', new: 'new' }]

  test.each([
    ['the file', 'd/f.txt', 'd/g.txt', 'd/g.txt'],
    ['its folder', 'd', 'e', 'e/f.txt'],
  ])('TR3 a move of %s waits until it is done', async (_, from, to, moved) => {
    const { entry, put, run, runEntered, text } = begin()
    put({ 'd/f.txt': 'old' })
    const done: string[] = []
    const editing = run('edit', { at, edits }).then(() => done.push('edit'))
    const ask = { from: inWorkspace(from), to: inWorkspace(to) }
    const moving = runEntered('move', ask).then(() => done.push('move'))
    await aWhile()
    entry.resolve()
    await Promise.all([editing, moving])
    expect(done).toEqual(['edit', 'move'])
    expect(text(moved)).toBe('new')
  })

  test('TR1 so does the trash, and the file is gone for who comes after', async () => {
    const { entry, put, run, runEntered, refusal, top } = begin()
    put({ 'd/f.txt': 'old' })
    const editing = run('edit', { at, edits })
    const trashing = runEntered('trash', { at: inWorkspace('d'), id: 'id-1', record: {} })
    const late = refusal('edit', { at, edits })
    await aWhile()
    entry.resolve()
    await Promise.all([editing, trashing])
    expect(await late).toBe('not_found')
    expect(readFileSync(join(top, 'trash/id-1/content/f.txt'), 'utf8')).toBe('new')
  })
})
