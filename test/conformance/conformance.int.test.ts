// SV16: the official suite against the whole system, guards included. Nothing is expected to fail.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startTestApp } from '../app.ts'
import { createFixture } from './conformance.fixture.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

/** The summary of a run: one line a scenario, as in `✓ ping: 2 passed, 0 failed`. */
async function summaryOf(
  host: string,
  ...args: string[]
): Promise<{ scenarios: string[]; total: string }> {
  const app = await startTestApp({}, { fixture: createFixture() })
  // The fixture's tools are not in the default list.
  const url = `http://${host}:${app.port}/mcp?tools=all`
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [suite, 'server', '--url', url, ...args],
      { cwd: tmpdir(), maxBuffer: 64 * 1024 * 1024 },
    ).catch((error: { stdout: string }) => error)
    const lines = stdout.slice(stdout.indexOf('=== SUMMARY ===')).split('\n')
    return {
      scenarios: lines.filter((line) => /^[✓✗] .*: \d+ passed/.test(line)),
      total: lines.find((line) => line.startsWith('Total:')) ?? stdout.slice(-2000),
    }
  } finally {
    await app.close()
  }
}

test.concurrent.each([
  ['2026-07-28', 'localhost', ['--requirements', '2026-07-28'], 50],
  ['2026-07-28', '127.0.0.1', ['--requirements', '2026-07-28'], 50],
  ['2025-11-25', 'localhost', ['--requirements', '2025-11-25'], 33],
  ['2025-11-25', '127.0.0.1', ['--requirements', '2025-11-25'], 33],
  ['every scenario there is', 'localhost', ['--suite', 'all'], 65],
] as const)(
  'SV16 RA11 the official suite passes: %s at %s',
  async (_, host, args, count) => {
    const { scenarios, total } = await summaryOf(host, ...args)
    expect(scenarios.filter((line) => line.startsWith('✗'))).toEqual([])
    expect(scenarios).toHaveLength(count)
    expect(total).toMatch(/^Total: \d{2,} passed, 0 failed$/)
  },
  120_000,
)
