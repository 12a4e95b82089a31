import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { chromiumMissing, findChromium } from '../../scripts/chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser; empty skips all browser tests. */
    chromium: string
    /** The folder of the console build. */
    webFolder: string
  }
}

/** Builds into a separate folder, so that tests neither use nor replace another build. */
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
  // The NODE_ENV of vitest would select the development build of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  execFileSync(process.execPath, args, { stdio: 'inherit', env })
}
