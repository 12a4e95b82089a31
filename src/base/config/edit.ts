import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import { writeFileAtomic } from '#base/atomic-file.ts'
import type { Environment } from './env.ts'
import { loadConfig } from './load.ts'
import type { LoadedConfig } from './load.ts'
import type { ConfigPath } from './schema-lookup.ts'

/** The text of a configuration with one setting changed: what else it says and its comments stay. */
export function setConfigValue(text: string, path: ConfigPath, value: unknown): string {
  const document = parseDocument(text)
  const [section = ''] = path
  // `workspace:` with nothing below it is as good as not there.
  if (isMap(document.contents) && (document.get(section) ?? null) === null) document.delete(section)
  if (isMap(document.contents) && document.contents.items.length === 0)
    document.contents.flow = false
  document.setIn(path, value)
  return document.toString({ lineWidth: 0 })
}

/** What the daemon would make of this text, or why it would refuse it. Nothing is left behind. */
export function parseConfigText(text: string, file: string, env: Environment): LoadedConfig {
  const folder = mkdtempSync(join(existingParent(file), '.cowork-check-'))
  try {
    const copy = join(folder, 'cowork.yaml')
    writeFileAtomic(copy, text)
    const loaded = loadConfig({ file: copy, env })
    return { ...loaded, warnings: loaded.warnings.map((line) => line.replace(copy, file)) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function existingParent(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) ? folder : existingParent(folder)
}
