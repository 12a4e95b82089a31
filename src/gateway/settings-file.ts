import { readFileSync, statSync } from 'node:fs'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { parseSettings, parseServer } from './settings.ts'
import type { ServerSettings } from './settings.ts'

const maxBytes = 4 * 1024 * 1024

export type SettingsFile = ReturnType<typeof createSettingsFile>

/** `mcp-settings.json`: read, watched by its change time, and edited without losing keys that a person wrote. */
export function createSettingsFile(path: string) {
  let seen: string | undefined

  /** Identifies one state of the file; undefined where the file does not exist. */
  function fingerprint(): string | undefined {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stat && `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
  }

  function readText(): string | undefined {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return undefined
    if (!stat.isFile() || stat.size > maxBytes)
      throw new CoworkError('server_settings_invalid', `Invalid ${path}: not a file below 4 MB.`, {
        hint: 'Replace it with a JSON file.',
      })
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  }

  function edit(change: (servers: Record<string, unknown>[]) => Record<string, unknown>[]): void {
    const text = readText()
    if (text !== undefined) parseSettings(text, path)
    const value = (text === undefined ? {} : JSON.parse(text)) as Record<string, unknown>
    const servers = (value['servers'] ?? []) as Record<string, unknown>[]
    const next = `${JSON.stringify({ ...value, servers: change(servers) }, undefined, 2)}\n`
    parseSettings(next, path)
    writeFileAtomic(path, next)
  }

  return {
    path,
    /** Returns the servers if the file changed since the last read. Throws for an invalid file, once per change. */
    readIfChanged(): readonly ServerSettings[] | undefined {
      const current = fingerprint() ?? 'missing'
      if (current === seen) return undefined
      seen = current
      try {
        const text = readText()
        return text === undefined ? [] : parseSettings(text, path)
      } catch (error) {
        if (error instanceof CoworkError) throw error
        throw new CoworkError(
          'server_settings_invalid',
          `Cannot read ${path}: ${errorMessage(error)}`,
          { hint: 'Check the file and its permissions.', cause: error },
        )
      }
    },
    add(server: Readonly<Record<string, unknown>>): ServerSettings {
      const parsed = parseServer(server)
      edit((servers) => {
        if (servers.some(({ name }) => isSameName(name, parsed.name)))
          throw new CoworkError('server_exists', `Server exists already: ${parsed.name}.`, {
            hint: 'Choose another name, or remove the server first.',
          })
        return [...servers, { ...server }]
      })
      return parsed
    },
    remove(name: string): void {
      edit((servers) => servers.filter((server) => server['name'] !== name))
    },
    /** Changes one server; a key whose value is undefined is removed. */
    update(name: string, change: Readonly<Record<string, unknown>>): void {
      edit((servers) =>
        servers.map((server) => (server['name'] === name ? { ...server, ...change } : server)),
      )
    },
  }
}

const isSameName = (a: unknown, b: string): boolean =>
  typeof a === 'string' && a.toLowerCase() === b.toLowerCase()
