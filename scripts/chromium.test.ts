import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findChromium } from './chromium.ts'

/** Creates a folder with programs that exit with these codes. */
function folderWith(programs: Record<string, number>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-chromium-'))
  for (const [name, code] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexit ${code}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

describe.skipIf(process.platform === 'win32')('a Chromium', () => {
  test('SV1 finds Chromium on the PATH by any of its names', () => {
    const empty = folderWith({})
    const folder = folderWith({ 'google-chrome': 0 })
    expect(findChromium({ PATH: [empty, folder].join(delimiter) })).toBe(
      join(folder, 'google-chrome'),
    )
  })

  test('SV1 ignores a program of that name that does not start', () => {
    const stub = folderWith({ 'chromium-browser': 1 })
    const real = folderWith({ 'google-chrome-stable': 0 })
    expect(findChromium({ PATH: [stub, real].join(delimiter) })).toBe(
      join(real, 'google-chrome-stable'),
    )
  })

  test('SV1 CHROMIUM_PATH excludes all other candidates', () => {
    const folder = folderWith({ chromium: 0, mine: 0 })
    const named = join(folder, 'mine')
    expect(findChromium({ PATH: folder, CHROMIUM_PATH: named })).toBe(named)
    expect(findChromium({ PATH: folder, CHROMIUM_PATH: join(folder, 'none') })).toBeUndefined()
  })
})
