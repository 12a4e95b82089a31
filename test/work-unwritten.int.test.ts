import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { testPlace } from './cli.ts'

test('W7 status, projects and doctor report changes missing in the file until they are written', async () => {
  const place = testPlace()
  const folder = join(place.state, '.worksync', 'projects', 'shop')
  const readOutput = async (...args: string[]) => (await place.cowork(args)).stdout
  await place.cowork(['up', '-d'])
  await place.cowork(['work', 'register', 'shop'])
  expect(await readOutput('doctor')).toMatch(/^ok {4}work /m)
  rmSync(join(folder, '.cowork'), { recursive: true, force: true })
  writeFileSync(join(folder, '.cowork'), 'in the way')
  await place.cowork(['work', 'add', 'Later', '-p', 'shop'])
  await vi.waitFor(
    async () =>
      expect(await readOutput('work', 'status')).toMatch(/file not written since .*EEXIST/),
    { timeout: 5000 },
  )
  expect(await readOutput('work', 'projects')).toContain('file not written')
  expect(await readOutput('work', 'projects', 'shop')).toMatch(/file not written since .*EEXIST/)
  expect(await readOutput('doctor')).toMatch(/^fail {2}work {8}The files of shop lack changes/m)
  rmSync(join(folder, '.cowork'))
  await vi.waitFor(
    () => expect(readFileSync(join(folder, 'work-index.yaml'), 'utf8')).toContain('Later'),
    { timeout: 5000 },
  )
  await vi.waitFor(async () =>
    expect(await readOutput('work', 'status')).not.toContain('not written'),
  )
  expect(await readOutput('doctor')).toMatch(/^ok {4}work /m)
})
