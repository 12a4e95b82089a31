import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { testFolders } from '../../../test/roots.ts'
import { createFrameReader, encodeFrame } from './frames.ts'
import type { Frame } from './frames.ts'

/** What a launcher started with these flags of Node comes to: the frames it sends, and what it says. */
async function launched(flags: readonly string[]) {
  const entry = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, 'launch.ts'), entry])
  const frames: Frame[] = []
  const read = createFrameReader({ head: 1e6, body: 1e6 }, (frame) => {
    frames.push(frame)
    child.stdin.end()
  })
  child.stdout.on('data', read)
  const { setup } = testFolders()
  // One for the launcher and one for the worker it becomes.
  for (const piece of [...encodeFrame(setup), ...encodeFrame(setup)]) child.stdin.write(piece)
  const said = await text(child.stderr)
  return { heads: frames.map(({ head }) => head), said }
}

test('PV6 the launcher becomes the worker, behind Landlock', async () => {
  const { heads } = await launched([])
  expect(heads).toEqual([{ ready: 'landlock', missing: [] }])
})

test('PV6 where Landlock cannot be had the worker starts all the same and says so', async () => {
  // Node loads no native code then, and without koffi there is no way to the system calls.
  const { heads, said } = await launched(['--no-addons'])
  expect(heads).toEqual([{ ready: 'walk', missing: [] }])
  expect(said).toContain('no Landlock')
})
