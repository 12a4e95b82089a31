import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import { readColumns } from '../worker/columns.ts'
import type { ListEntry, Stat } from '../worker/protocol.ts'
import { list } from './list.ts'
import { compareText } from './top-n.ts'

const ask = { recursive: false, limit: 10_000, ignore: false }

function begin() {
  const files = openTestOps()
  onTestFinished(files.close)
  const listed = async (path: string) => {
    const entries = readColumns(await files.run('list', { ...ask, at: inWorkspace(path) }))
    return entries.map(({ path: name, type, size, modifiedAt }): ListEntry => {
      return { path: name, type, size, modifiedAt }
    })
  }
  return { ...files, listed, at: (path: string) => join(files.workspace, path) }
}

/** Creates entries of all types, also with invalid UTF-8 names. */
function fillMixed(folder: string, count: number): void {
  fs.mkdirSync(folder)
  const pathTo = (name: string) => join(folder, name)
  for (let n = 0; n < count; n++) {
    const name = `${n % 7 === 0 ? 'new\nline ' : ''}${n % 11 === 0 ? '漢é"\\' : 'n'}${n}`
    if (n % 5 === 0) fs.mkdirSync(pathTo(name))
    else if (n % 13 === 0) fs.symlinkSync('n1', pathTo(name))
    else fs.writeFileSync(pathTo(name), 'x'.repeat((n * 37) % 3000))
    if (n % 3 === 0) fs.lutimesSync(pathTo(name), n, n + 0.5)
  }
  execFileSync('mkfifo', [pathTo('o')])
  for (let n = 128; n < 160; n++)
    fs.writeFileSync(Buffer.from(`${folder}/old ${String.fromCharCode(n)}`, 'latin1'), `${n}`)
  // Shown like the invalid names.
  fs.writeFileSync(pathTo('old \ufffd'), 'a name that is text')
}

/** A reference: one lstat per full path. */
const listNaively = (folder: string): ListEntry[] =>
  fs
    .readdirSync(folder, { encoding: 'buffer' })
    .toSorted((a, b) => compareText(a.toString(), b.toString()) || Buffer.compare(a, b))
    .map((name) => {
      const stat = fs.lstatSync(Buffer.concat([Buffer.from(`${folder}/`), name]))
      const types: readonly (readonly [boolean, Stat['type']])[] = [
        [stat.isFile(), 'file'],
        [stat.isDirectory(), 'folder'],
        [stat.isSymbolicLink(), 'link'],
      ]
      return {
        path: name.toString(),
        type: types.find(([isIt]) => isIt)?.[1] ?? 'other',
        size: stat.isFile() ? stat.size : 0,
        modifiedAt: Math.floor(stat.mtimeMs),
      }
    })

test('FT3 a long list agrees with stat for every type and name', async () => {
  const { at, listed } = begin()
  fillMixed(at('a'), 1500)
  fillMixed(at('b'), 700)
  for (const name of ['a', 'b', 'a']) expect(await listed(name)).toEqual(listNaively(at(name)))
})

test('FT3 a long list shows a file that is deleted while the folder is read', async () => {
  const { at, context } = begin()
  // Enough entries to yield to other operations.
  for (let n = 0; n < 4200; n++) fs.writeFileSync(at(`n${n}`), 'text')
  const gone = ['n0', 'n17', 'n4000', 'n999']
  const yieldIfDue = async () => {
    for (const name of gone) fs.rmSync(at(name), { force: true })
  }
  const asked = { ...ask, at: inWorkspace('') }
  const answer = await list({ ...context, yieldIfDue }, asked, Buffer.alloc(0), () => false)
  const entries = readColumns(answer)
  expect(entries).toHaveLength(4200)
  expect(entries.filter(({ size }) => size !== 4)).toEqual(
    gone.map((path) => ({ path, type: 'file', size: 0, modifiedAt: 0 })),
  )
})
