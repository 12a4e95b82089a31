import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import type { ConfigIssue, LoadOptions } from '../../../src/base/config/load.ts'
import { loadConfig } from '../../../src/base/config/load.ts'

/** Creates a temporary home with a state directory. */
export function tempHome(files: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'cowork-config-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, '.cowork'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const load = (options: LoadOptions = {}) => loadConfig({ env: {}, home, cwd: home, ...options })
  return { home, load }
}

export const loadYaml = (yaml: string, options: LoadOptions = {}) =>
  tempHome({ '.cowork/cowork.yaml': yaml }).load(options)

export function captureError(act: () => unknown): CoworkError {
  try {
    act()
  } catch (error) {
    if (error instanceof CoworkError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Returns `line:column message` of every problem, in order. */
export function listProblems(yaml: string, options: LoadOptions = {}): string[] {
  const { details } = captureError(() => loadYaml(yaml, options))
  return (details['problems'] as ConfigIssue[]).map(({ file, line, column, message }) =>
    line === undefined ? `${file}: ${message}` : `${line}:${column} ${message}`,
  )
}
