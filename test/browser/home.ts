import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

/** Creates home folders for tests and removes each after its test. */
export function useHomes() {
  const homes = new Set<string>()
  afterEach(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true })
    homes.clear()
  })

  /** Creates a home folder with these files, which the started system uses as the home of its user. */
  return function newHome(files: Readonly<Record<string, string>> = {}) {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-home-')))
    homes.add(home)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(home, name)), { recursive: true })
      writeFileSync(join(home, name), content)
    }
    return {
      path: home,
      at: (name: string) => join(home, name),
      async during<T>(act: () => Promise<T>): Promise<T> {
        const before = process.env['HOME']
        process.env['HOME'] = home
        try {
          return await act()
        } finally {
          if (before === undefined) delete process.env['HOME']
          else process.env['HOME'] = before
        }
      },
    }
  }
}
