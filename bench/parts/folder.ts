// A folder that is removed when the script ends: `using folder = tempFolder()`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function tempFolder() {
  const path = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
