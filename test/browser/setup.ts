import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { chromiumMissing, findChromium } from '../../scripts/chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser, or nothing: then no browser test runs. */
    chromium: string
    /** The console as it was built from the sources of this moment. */
    webFolder: string
  }
}

/** Builds into a folder of its own, so that a test never sees, or replaces, an older build. */
export function setup(project: TestProject): () => void {
  const chromium = findChromium()
  const webFolder = mkdtempSync(join(tmpdir(), 'cowork-web-'))
  project.provide('chromium', chromium ?? '')
  project.provide('webFolder', webFolder)
  if (chromium) buildConsole(webFolder)
  else console.log(chromiumMissing())
  return () => rmSync(webFolder, { recursive: true, force: true })
}

export function buildConsole(folder: string): void {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', 'web', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
  // Under vitest's own NODE_ENV it would be the development build of React that is tested.
  const env = { ...process.env, NODE_ENV: 'production' }
  execFileSync(process.execPath, args, { stdio: 'inherit', env })
}
