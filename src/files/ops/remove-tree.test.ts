import fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestOps } from '../../../test/ops.ts'
import { removeTree } from './tree.ts'
import type { BeforeRemove } from './tree.ts'

/** Removes a tree and returns what remains. */
async function removeAndList(check: (path: string) => void, rest = () => Promise.resolve()) {
  const files = openTestOps()
  onTestFinished(files.close)
  files.put({ 'f/a/one.md': '', 'f/b/two.md': '', 'f/c/three.md': '', 'f/z.md': '' })
  const at = (real: string) => join(files.workspace, real)
  const checkGoing: BeforeRemove = (real) => check(at(real))
  const workspace = files.context.roots.get('workspace')
  const removing = workspace.withParent('f', (top) => removeTree(workspace, top, rest, checkGoing))
  const error = await removing.then(
    () => undefined,
    (thrown: unknown) => (thrown as Error).message,
  )
  const left = fs.existsSync(at('f')) ? fs.readdirSync(at('f'), { recursive: true }) : undefined
  return { error, left }
}

test('TR1 removes everything except refused entries and throws the first refusal', async () => {
  const met: string[] = []
  const refuse = (path: string) => {
    if (!/two|three/.test(path)) return
    met.push(path)
    throw new Error(`${path} stays`)
  }
  const { error, left } = await removeAndList(refuse)
  expect(left?.toSorted()).toEqual(['b', 'b/two.md', 'c', 'c/three.md'])
  expect(error).toBe(`${met[0]} stays`)
})

test('TR1 succeeds if another program removes entries first', async () => {
  const removeFirst = (path: string) => path.endsWith('two.md') && fs.unlinkSync(path)
  expect(await removeAndList(removeFirst)).toEqual({ error: undefined, left: undefined })
})

test('TR1 stops removing when cancelled', async () => {
  let isFirst = true
  const cancel = () => {
    if (!isFirst) return Promise.resolve()
    isFirst = false
    return Promise.reject(new Error('stopped'))
  }
  const { error, left } = await removeAndList(() => undefined, cancel)
  expect(error).toBe('stopped')
  expect(left?.filter((path) => path.includes('.md'))).toHaveLength(3)
})
