import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { testFolders } from '../../../test/roots.ts'
import { createFrameReader, encodeFrame } from './frames.ts'
import type { Frame } from './frames.ts'

/** Runs a launcher with Node flags and returns the frames it sends and its stderr. */
async function runLauncher(flags: readonly string[]) {
  const entry = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, 'launch.ts'), entry])
  const frames: Frame[] = []
  const read = createFrameReader({ head: 1e6, body: 1e6 }, (frame) => {
    frames.push(frame)
    child.stdin.end()
  })
  child.stdout.on('data', read)
  const { setup } = testFolders()
  // One setup for the launcher and one for the worker it becomes.
  for (const chunk of [...encodeFrame(setup), ...encodeFrame(setup)]) child.stdin.write(chunk)
  const stderr = await text(child.stderr)
  return { heads: frames.map(({ head }) => head), stderr }
}

test('PV6 becomes the worker under Landlock', async () => {
  const { heads } = await runLauncher([])
  expect(heads).toEqual([{ ready: 'landlock', missing: [] }])
})

test('PV6 starts the worker without Landlock and reports it', async () => {
  // With this flag Node loads no native code, so koffi cannot make the system calls.
  const { heads, stderr } = await runLauncher(['--no-addons'])
  expect(heads).toEqual([{ ready: 'walk', missing: [] }])
  expect(stderr).toContain('no Landlock')
})
