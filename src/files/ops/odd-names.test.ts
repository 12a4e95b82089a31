import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import { toCursor, readColumns } from '../worker/columns.ts'

/** Creates a folder that contains a folder with an invalid UTF-8 name. */
function createInvalidName(workspace: string): Buffer {
  const odd = Buffer.concat([Buffer.from(join(workspace, 'old', 'caf')), Buffer.from([0xe9])])
  fs.mkdirSync(join(workspace, 'old'))
  fs.mkdirSync(odd)
  fs.writeFileSync(Buffer.concat([odd, Buffer.from('/a.txt')]), 'in it')
  return odd
}

// Other file systems accept only Unicode names.
test.runIf(process.platform === 'linux')(
  'FT5 TR1 moves, deletes, restores and purges a folder with an invalid UTF-8 name inside',
  async () => {
    const files = openTestOps()
    createInvalidName(files.workspace)
    await files.run('move', { from: inWorkspace('old'), to: inWorkspace('new') })
    const read = await files.run('read', { at: inWorkspace('new/caf\ufffd/a.txt'), maxBytes: 99 })
    expect(read.body?.toString()).toBe('in it')
    const deleted = { at: inWorkspace('new'), record: {} }
    await files.run('trash', { ...deleted, id: 'id-1' })
    expect(fs.existsSync(join(files.workspace, 'new'))).toBe(false)
    await files.run('restore', { id: 'id-1', to: inWorkspace('new') })
    expect(fs.readdirSync(join(files.workspace, 'new'))).toHaveLength(1)
    await files.run('trash', { ...deleted, id: 'id-2' })
    expect((await files.run('purge', { ids: ['id-2'] })).purged).toEqual(['id-2'])
    await files.close()
  },
)

test.runIf(process.platform === 'linux')(
  'PV4 refuses to move a protected path inside a folder with an invalid UTF-8 name',
  async () => {
    const files = openTestOps()
    const odd = createInvalidName(files.workspace)
    fs.writeFileSync(Buffer.concat([odd, Buffer.from('/.env')]), 'secret')
    const move = { from: inWorkspace('old'), to: inWorkspace('new') }
    expect(await files.refusal('move', move)).toBe('forbidden_path')
    // Both of two folders that look the same are checked.
    const other = Buffer.concat([odd.subarray(0, -1), Buffer.from([0xe8])])
    fs.mkdirSync(other)
    fs.renameSync(
      Buffer.concat([odd, Buffer.from('/.env')]),
      Buffer.concat([other, Buffer.from('/.env')]),
    )
    expect(await files.refusal('move', move)).toBe('forbidden_path')
    fs.rmSync(Buffer.concat([other, Buffer.from('/.env')]))
    await files.run('move', move)
    expect(fs.readdirSync(join(files.workspace, 'new'))).toHaveLength(2)
    await files.run('trash', { at: inWorkspace('new'), id: 'id-1', record: {} })
    expect((await files.run('purge', { ids: ['id-1'] })).purged).toEqual(['id-1'])
    await files.close()
  },
)

/** Writes files with the given name bytes. */
function putInvalidNames(folder: string, files: readonly (readonly [string, string])[]): void {
  for (const [latin1, content] of files)
    fs.writeFileSync(
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(latin1, 'latin1')]),
      content,
    )
}

test.runIf(process.platform === 'linux')(
  'FT3 FT7 lists and counts a file with an invalid UTF-8 name',
  async () => {
    const files = openTestOps()
    putInvalidNames(files.workspace, [['caf\xe9.txt', '12345']])
    files.put({ 'plain.txt': '1' })
    const { mtimeMs } = fs.statSync(Buffer.from(`${files.workspace}/caf\xe9.txt`, 'latin1'))
    const at = inWorkspace('')
    for (const recursive of [false, true]) {
      const list = await files.run('list', { at, recursive, limit: 10, ignore: false })
      expect(readColumns(list)[0]).toMatchObject({
        path: 'caf\ufffd.txt',
        type: 'file',
        size: 5,
        modifiedAt: Math.floor(mtimeMs),
      })
    }
    expect(await files.run('usage', { at, depth: 1 })).toMatchObject({ files: 2, bytes: 6 })
    await files.close()
  },
)

test.runIf(process.platform === 'linux')(
  'FT2 FT6 finds and reads a file with an invalid UTF-8 name by its shown name',
  async () => {
    const files = openTestOps()
    putInvalidNames(files.workspace, [['caf\xe9.txt', 'in it']])
    const at = inWorkspace('caf\ufffd.txt')
    expect((await files.run('read', { at, maxBytes: 9 })).body?.toString()).toBe('in it')
    const query = { in: [inWorkspace('')], types: [], limit: 10, query: 'caf' }
    expect((await files.run('searchNames', query)).hits).toMatchObject([{ path: at.path, size: 5 }])
    // Changing or moving it is refused with a reason.
    expect(await files.refusal('trash', { at, id: 'id-1', record: {} })).toBe('invalid_path')
    const move = { from: at, to: inWorkspace('b.txt') }
    expect(await files.refusal('move', move)).toBe('invalid_path')
    const write = { at, writeMode: 'put', encoding: 'utf-8' } as const
    expect(await files.refusal('write', write, 'new')).toBe('invalid_path')
    // Two names that look the same are ambiguous.
    putInvalidNames(files.workspace, [['caf\xe8.txt', 'other']])
    expect(await files.refusal('read', { at, maxBytes: 9 })).toBe('invalid_path')
    // A valid name with U+FFFD is an ordinary name.
    files.put({ 'sign\ufffd.txt': 'sign' })
    await files.run('move', { from: inWorkspace('sign\ufffd.txt'), to: inWorkspace('s.txt') })
    expect(fs.readFileSync(join(files.workspace, 's.txt'), 'utf8')).toBe('sign')
    await files.close()
  },
)

test.runIf(process.platform === 'linux')(
  'F5 clears execute bits of a file with an invalid UTF-8 name too',
  async () => {
    const files = openTestOps()
    fs.mkdirSync(join(files.workspace, 'Code/old'), { recursive: true })
    putInvalidNames(join(files.workspace, 'Code/old'), [['caf\xe9', '']])
    const name = (folder: string) => Buffer.from(`${files.workspace}/${folder}/caf\xe9`, 'latin1')
    fs.chmodSync(name('Code/old'), 0o755)
    await files.run('move', { from: inWorkspace('Code/old'), to: inWorkspace('new') })
    expect(fs.statSync(name('new')).mode & 0o111).toBe(0)
    await files.close()
  },
)

/** Names of which many look the same; some are valid UTF-8. */
const ambiguousName = fc
  .array(fc.constantFrom('a', 'b', '\xe9', '\xe8', '\xff', '\xef\xbf\xbd'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.join(''))

test.runIf(process.platform === 'linux')(
  'FT3 pages neither lose nor repeat invalid UTF-8 names',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(ambiguousName, { maxLength: 12 }),
        fc.uniqueArray(ambiguousName, { maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (names, inside, limit, recursive) => {
          const files = openTestOps()
          putInvalidNames(
            files.workspace,
            names.map((name) => [name, name]),
          )
          const folder = Buffer.from(`${files.workspace}/z\xe9`, 'latin1')
          fs.mkdirSync(folder)
          for (const name of inside)
            fs.writeFileSync(Buffer.concat([folder, Buffer.from(`/${name}`, 'latin1')]), name)
          const ask = { at: inWorkspace(''), recursive, ignore: false }
          const whole = readColumns(await files.run('list', { ...ask, limit: 100 }))
          expect(whole).toHaveLength(names.length + 1 + (recursive ? inside.length : 0))
          const pages = []
          for (let after: string | undefined; ;) {
            const page = await files.run('list', {
              ...ask,
              limit,
              ...(after !== undefined && { after }),
            })
            pages.push(...readColumns(page))
            if (page.next === undefined) break
            after = page.next
            // A tool that shows only a part of the page continues here.
            expect(pages.slice(-1).map(toCursor)).toEqual([after])
          }
          expect(pages).toEqual(whole)
          await files.close()
        },
      ),
      { numRuns: 60 },
    )
  },
)

test.runIf(process.platform === 'linux')(
  'FT3 refuses a cursor whose bytes differ from its shown name',
  async () => {
    const files = openTestOps()
    const list = { at: inWorkspace(''), recursive: true, limit: 1, ignore: false }
    for (const after of ['a\ufffd//', 'a\ufffd//62ff', 'a//61', '//61', 'a\ufffd//zz', '/a', 'a/'])
      expect(await files.refusal('list', { ...list, after }), after).toBe('invalid_query')
    await files.close()
  },
)

test.runIf(process.platform === 'linux')(
  'FT3 removes a stale temporary folder that contains invalid UTF-8 names',
  async () => {
    const files = openTestOps()
    const left = join(files.workspace, `.cowork-${'0'.repeat(24)}.tmp`)
    fs.mkdirSync(left)
    putInvalidNames(left, [
      ['caf\xe9.txt', ''],
      ['caf\xe8.txt', ''],
    ])
    fs.mkdirSync(Buffer.from(`${left}/d\xe9`, 'latin1'))
    fs.utimesSync(left, 1, 1)
    await files.run('list', { at: inWorkspace(''), recursive: false, limit: 10, ignore: false })
    expect(fs.readdirSync(files.workspace)).toEqual([])
    await files.close()
  },
)
