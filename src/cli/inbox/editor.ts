import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'

/** What the person's own editor makes of a text; nobody else can read it meanwhile. */
export async function edited(text: string, env: Environment): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-edit-'))
  try {
    const file = join(folder, 'change.json')
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
    const code = await edit(file, env)
    if (code !== 0)
      throw new CoworkError('editor_failed', `The editor ended with ${code}: nothing was decided.`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function edit(file: string, env: Environment): Promise<number> {
  const isWindows = process.platform === 'win32'
  const editor = env['VISUAL'] || env['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // By a shell, since the variable may hold options too.
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: 'inherit', env, shell: true })
    : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
