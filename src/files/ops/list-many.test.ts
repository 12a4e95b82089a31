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

/** Entries of all kinds, and of names that are no text. */
function fillMixed(folder: string, count: number): void {
  fs.mkdirSync(folder)
  const at = (name: string) => join(folder, name)
  for (let n = 0; n < count; n++) {
    const name = `${n % 7 === 0 ? 'new\nline ' : ''}${n % 11 === 0 ? '漢é"\\' : 'n'}${n}`
    if (n % 5 === 0) fs.mkdirSync(at(name))
    else if (n % 13 === 0) fs.symlinkSync('n1', at(name))
    else fs.writeFileSync(at(name), 'x'.repeat((n * 37) % 3000))
    if (n % 3 === 0) fs.lutimesSync(at(name), n, n + 0.5)
  }
  execFileSync('mkfifo', [at('o')])
  for (let n = 128; n < 160; n++)
    fs.writeFileSync(Buffer.from(`${folder}/old ${String.fromCharCode(n)}`, 'latin1'), `${n}`)
  // They all look like this one.
  fs.writeFileSync(at('old \ufffd'), 'a name that is text')
}

/** What a look at each by its whole path says. */
const plain = (folder: string): ListEntry[] =>
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

test('FT3 a long list says of each entry what stat says, whatever its kind and name', async () => {
  const { at, listed } = begin()
  fillMixed(at('a'), 1500)
  fillMixed(at('b'), 700)
  for (const name of ['a', 'b', 'a']) expect(await listed(name)).toEqual(plain(at(name)))
})

test('FT3 a long list shows a file that goes while its folder is read as it was met', async () => {
  const { at, context } = begin()
  // So many that others get their turn meanwhile.
  for (let n = 0; n < 4200; n++) fs.writeFileSync(at(`n${n}`), 'text')
  const gone = ['n0', 'n17', 'n4000', 'n999']
  const turn = async () => {
    for (const name of gone) fs.rmSync(at(name), { force: true })
  }
  const asked = { ...ask, at: inWorkspace('') }
  const answer = await list({ ...context, yieldIfDue: turn }, asked, Buffer.alloc(0), () => false)
  const entries = readColumns(answer)
  expect(entries).toHaveLength(4200)
  expect(entries.filter(({ size }) => size !== 4)).toEqual(
    gone.map((path) => ({ path, type: 'file', size: 0, modifiedAt: 0 })),
  )
})
