import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { granted, openTestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import type { Root } from '../worker/protocol.ts'

/** Opens a folder grant and a second grant for one file below it. */
function openWithSingleFile(containment: 'walk' | 'checked') {
  const folders = testFolders()
  fill(folders.granted, { 'one.txt': 'one' })
  const path = join(folders.granted, 'one.txt')
  const single = pinnedRoot('single', path, { kind: 'file' })
  const roots = [...folders.setup.roots, single]
  const files = openTestOps({ folders, containment, roots })
  const readText = (root: string, path = '') => {
    const { fd } = files.context.roots.get(root).openFile(path)
    try {
      return fs.readFileSync(fd, 'utf8')
    } finally {
      fs.closeSync(fd)
    }
  }
  return { ...files, path, single, readText }
}

const replaceOptions = { writeMode: 'replace', encoding: 'keep' } as const

test.each(['walk', 'checked'] as const)(
  'PV9 follows a file that the worker replaced in the grant of that file: %s',
  async (containment) => {
    const { run, refusal, readText, path, close } = openWithSingleFile(containment)
    for (const content of ['two', 'three', 'four']) {
      await run('write', { at: granted('one.txt'), ...replaceOptions }, content)
      expect(readText('single')).toBe(content)
    }
    await run('write', { at: { root: 'single', path: '' }, ...replaceOptions }, 'five')
    expect(readText('grant_1', 'one.txt')).toBe('five')
    // A replacement by another program is not followed, even if the worker writes afterwards.
    fs.renameSync(path, `${path}.away`)
    fs.writeFileSync(path, 'theirs')
    await run('write', { at: granted('one.txt'), ...replaceOptions }, 'six')
    expect(await refusal('read', { at: { root: 'single', path: '' }, maxBytes: 9 })).toBe(
      'root_replaced',
    )
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 refuses an inode with the number of a granted one and another birth time: %s',
  async (containment) => {
    const folders = testFolders()
    fill(folders.granted, { 'one.txt': 'one' })
    const folder = pinnedRoot('folder', folders.granted)
    const file = pinnedRoot('file', join(folders.granted, 'one.txt'), { kind: 'file' })
    const withIdentity = (key: string, root: Root, born: string | null) => ({ ...root, key, born })
    const roots = [
      ...folders.setup.roots,
      ...[folder, file].flatMap((root) => [
        withIdentity(`${root.key} of old`, root, '1'),
        // Grants from before birth times were stored.
        withIdentity(`${root.key} unknown`, root, null),
        root,
      ]),
    ]
    const { context, close } = openTestOps({ folders, containment, roots })
    const open = (key: string, path: string) =>
      fs.closeSync(context.roots.get(key).openFile(path).fd)
    for (const { key, kind } of [folder, file]) {
      const path = kind === 'file' ? '' : 'one.txt'
      for (const same of [key, `${key} unknown`]) expect(() => open(same, path)).not.toThrow()
      expect(() => open(`${key} of old`, path)).toThrow('no longer at its path')
    }
    expect(context.roots.repin([{ ...file, born: '1' }])).toEqual([])
    expect(() => open('file', '')).not.toThrow()
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 repins a root to the inode that the daemon names, if it is at the path: %s',
  async (containment) => {
    const { context, readText, path, single, close } = openWithSingleFile(containment)
    fs.writeFileSync(`${path}~`, 'two')
    fs.renameSync(`${path}~`, path)
    expect(context.roots.repin([{ ...single, ino: '1' }])).toEqual([])
    expect(() => readText('single')).toThrow('no longer at its path')
    const next = pinnedRoot('single', path, { kind: 'file' })
    for (let n = 0; n < 2; n++) expect(context.roots.repin([next])).toEqual([])
    expect(readText('single')).toBe('two')
    expect(context.roots.repin([{ ...next, key: 'other', path: '/nowhere' }])).toEqual(['other'])
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 follows later replacements after an outdated repin by the daemon: %s',
  async (containment) => {
    const { context, run, readText, path, single, close } = openWithSingleFile(containment)
    const write = (content: string) =>
      run('write', { at: granted('one.txt'), ...replaceOptions }, content).then(() =>
        pinnedRoot('single', path, { kind: 'file' }),
      )
    // Kept open so that no inode number is reused.
    const descriptors = [fs.openSync(path, 'r')]
    const first = await write('two')
    descriptors.push(fs.openSync(path, 'r'))
    await write('three')
    descriptors.push(fs.openSync(path, 'r'))
    expect(first.ino).not.toBe(single.ino)
    expect(context.roots.repin([first])).toEqual([])
    expect(readText('single')).toBe('three')
    await write('four')
    expect(readText('single')).toBe('four')
    for (const fd of descriptors) fs.closeSync(fd)
    await close()
  },
)
