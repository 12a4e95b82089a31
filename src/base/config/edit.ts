import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import { writeFileAtomic } from '#base/atomic-file.ts'
import type { Environment } from './env.ts'
import { loadConfig } from './load.ts'
import type { LoadedConfig } from './load.ts'
import type { ConfigPath } from './schema-lookup.ts'

/** Changes one setting in the text of a configuration and keeps all other settings and comments. */
export function setConfigValue(text: string, path: ConfigPath, value: unknown): string {
  const document = parseDocument(text)
  const [section = ''] = path
  // An empty `workspace:` is equivalent to a missing section.
  if (isMap(document.contents) && (document.get(section) ?? null) === null) document.delete(section)
  if (isMap(document.contents) && document.contents.items.length === 0)
    document.contents.flow = false
  document.setIn(path, value)
  return document.toString({ lineWidth: 0 })
}

/** Loads a configuration text as the daemon would, through a temporary file. Throws if it is invalid. */
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
