import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'

/** A folder with another in it whose name is in an old encoding. */
function oldFolder(workspace: string): Buffer {
  const odd = Buffer.concat([Buffer.from(join(workspace, 'old', 'caf')), Buffer.from([0xe9])])
  fs.mkdirSync(join(workspace, 'old'))
  fs.mkdirSync(odd)
  fs.writeFileSync(Buffer.concat([odd, Buffer.from('/a.txt')]), 'in it')
  return odd
}

// Elsewhere the file system takes no name that is not Unicode, so there is no such folder.
test.runIf(process.platform === 'linux')(
  'FT5 TR1 a folder with a folder whose name is no text is moved, deleted, restored and purged',
  async () => {
    const files = openTestOps()
    oldFolder(files.workspace)
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
  'PV4 what is closed in a folder whose name is no text is not carried away',
  async () => {
    const files = openTestOps()
    const odd = oldFolder(files.workspace)
    fs.writeFileSync(Buffer.concat([odd, Buffer.from('/.env')]), 'secret')
    const move = { from: inWorkspace('old'), to: inWorkspace('new') }
    expect(await files.refusal('move', move)).toBe('forbidden_path')
    // Two that look the same cannot be told apart, so neither is taken for the other.
    fs.mkdirSync(Buffer.concat([odd.subarray(0, -1), Buffer.from([0xe8])]))
    expect(await files.refusal('move', move)).toBe('invalid_path')
    await files.close()
  },
)
