import { spawn } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { launcher } from './cli.ts'
import type { newPlace } from './cli.ts'

type Place = Pick<ReturnType<typeof newPlace>, 'state' | 'env'>

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Runs `cowork` in a real pseudo-terminal, created by `script`, with simulated keys. */
export function inTerminal(place: Place, args: string[], env: Record<string, string> = {}) {
  const name = join(place.state, `terminal-${Math.random().toString(36).slice(2)}`)
  const command = [process.execPath, launcher, ...args].map(quoted).join(' ')
  const line = [
    `stty rows 24 cols 80; tty > ${name}; stty -a > ${name}.before`,
    `${command}; code=$?; stty -a > ${name}.after; exit $code`,
  ].join('; ')
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: place.state,
    env: { ...place.env, TERM: 'xterm-256color', NO_COLOR: '1', SHELL: '/bin/sh', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exit = once(child, 'exit') as Promise<[number | null]>

  return {
    output: () => output,
    press: (keys: string) => void child.stdin.write(keys),
    /** The lines of the last frame. */
    lines(): string[] {
      const frame = output.slice(output.lastIndexOf('\u001b[H'))
      return stripVTControlCharacters(frame).split('\r\n')
    },
    resize(rows: number, columns: number): void {
      const tty = readFileSync(name, 'utf8').trim()
      execFileSync('stty', ['-F', tty, 'rows', String(rows), 'cols', String(columns)])
    },
    /** Terminal settings before and after. */
    settings: () =>
      ['before', 'after'].map((when) =>
        readFileSync(`${name}.${when}`, 'utf8').replace(/^.*\n/, ''),
      ),
    async ended(): Promise<{ code: number | null; output: string }> {
      const [code] = await exit
      return { code, output: stripVTControlCharacters(output) }
    },
  }
}
