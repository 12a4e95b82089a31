import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { granted, openTestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import type { Root } from '../worker/protocol.ts'

/** A file below what is granted that has a root of its own as well. */
function opened(containment: 'walk' | 'checked') {
  const folders = testFolders()
  fill(folders.granted, { 'one.txt': 'one' })
  const path = join(folders.granted, 'one.txt')
  const single = pinnedRoot('single', path, { kind: 'file' })
  const roots = [...folders.setup.roots, single]
  const files = openTestOps({ folders, containment, roots })
  const text = (root: string, at = '') => {
    const { fd } = files.context.roots.get(root).openFile(at)
    try {
      return fs.readFileSync(fd, 'utf8')
    } finally {
      fs.closeSync(fd)
    }
  }
  return { ...files, path, single, text }
}

const how = { how: 'replace', encoding: 'keep' } as const

test.each(['walk', 'checked'] as const)(
  'PV9 what the worker puts in the place of a file is what its own root is for: %s',
  async (containment) => {
    const { run, refusal, text, path, close } = opened(containment)
    for (const content of ['two', 'three', 'four']) {
      await run('write', { at: granted('one.txt'), ...how }, content)
      expect(text('single')).toBe(content)
    }
    await run('write', { at: { root: 'single', path: '' }, ...how }, 'five')
    expect(text('grant_1', 'one.txt')).toBe('five')
    // What others put there is not, and nothing of ours makes it so.
    fs.renameSync(path, `${path}.away`)
    fs.writeFileSync(path, 'theirs')
    await run('write', { at: granted('one.txt'), ...how }, 'six')
    expect(await refusal('read', { at: { root: 'single', path: '' }, maxBytes: 9 })).toBe(
      'root_replaced',
    )
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 what has the number of a granted folder or file and another birth is not opened: %s',
  async (containment) => {
    const folders = testFolders()
    fill(folders.granted, { 'one.txt': 'one' })
    const folder = pinnedRoot('folder', folders.granted)
    const file = pinnedRoot('file', join(folders.granted, 'one.txt'), { kind: 'file' })
    const named = (key: string, root: Root, born: string | null) => ({ ...root, key, born })
    const roots = [
      ...folders.setup.roots,
      ...[folder, file].flatMap((root) => [
        named(`${root.key} of old`, root, '1'),
        // As of a grant from before births were kept.
        named(`${root.key} unknown`, root, null),
        root,
      ]),
    ]
    const { context, close } = openTestOps({ folders, containment, roots })
    const open = (key: string, at: string) => fs.closeSync(context.roots.get(key).openFile(at).fd)
    for (const { key, kind } of [folder, file]) {
      const at = kind === 'file' ? '' : 'one.txt'
      for (const same of [key, `${key} unknown`]) expect(() => open(same, at)).not.toThrow()
      expect(() => open(`${key} of old`, at)).toThrow('no longer at its path')
    }
    expect(context.roots.repin([{ ...file, born: '1' }])).toEqual([])
    expect(() => open('file', '')).not.toThrow()
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 a root goes on for what the daemon names, if that is there: %s',
  async (containment) => {
    const { context, text, path, single, close } = opened(containment)
    fs.writeFileSync(`${path}~`, 'two')
    fs.renameSync(`${path}~`, path)
    expect(context.roots.repin([{ ...single, ino: '1' }])).toEqual([])
    expect(() => text('single')).toThrow('no longer at its path')
    const next = pinnedRoot('single', path, { kind: 'file' })
    for (let n = 0; n < 2; n++) expect(context.roots.repin([next])).toEqual([])
    expect(text('single')).toBe('two')
    expect(context.roots.repin([{ ...next, key: 'other', path: '/nowhere' }])).toEqual(['other'])
    await close()
  },
)

test.each(['walk', 'checked'] as const)(
  'PV9 the daemon may tell of a file that was replaced since: what comes after it is followed: %s',
  async (containment) => {
    const { context, run, text, path, single, close } = opened(containment)
    const write = (content: string) =>
      run('write', { at: granted('one.txt'), ...how }, content).then(() =>
        pinnedRoot('single', path, { kind: 'file' }),
      )
    // Held open, so that none gets the inode of another.
    const held = [fs.openSync(path, 'r')]
    const first = await write('two')
    held.push(fs.openSync(path, 'r'))
    await write('three')
    held.push(fs.openSync(path, 'r'))
    expect(first.ino).not.toBe(single.ino)
    expect(context.roots.repin([first])).toEqual([])
    expect(text('single')).toBe('three')
    await write('four')
    expect(text('single')).toBe('four')
    for (const fd of held) fs.closeSync(fd)
    await close()
  },
)
