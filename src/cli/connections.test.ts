import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import {
  connectionsFile,
  deleteConnection,
  saveConnection,
  readConnections,
} from './connections.ts'
import type { Connection } from './connections.ts'

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-connections-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return statePaths(folder)
}

const one: Connection = {
  client: 'codex',
  file: '/home/a/.codex/config.toml',
  agent: 'codex',
  via: 'stdio',
  created_file: false,
  entries: [{ place: ['mcp_servers', 'cowork'], digest: 'd', made: { gap: '\n' } }],
  connected_at: '2026-01-01T00:00:00Z',
}

test('K4 what was connected is remembered per client and file, closed to others', () => {
  const paths = place()
  expect(readConnections(paths)).toEqual([])
  saveConnection(paths, one)
  saveConnection(paths, { ...one, agent: 'other' })
  saveConnection(paths, { ...one, file: '/here/config.toml' })
  expect(readConnections(paths).map(({ file, agent }) => [file, agent])).toEqual([
    ['/home/a/.codex/config.toml', 'other'],
    ['/here/config.toml', 'codex'],
  ])
  expect(statSync(connectionsFile(paths)).mode & 0o777).toBe(0o600)
  deleteConnection(paths, one)
  expect(readConnections(paths).map(({ file }) => file)).toEqual(['/here/config.toml'])
})

test('K4 a damaged list is named, not guessed at', () => {
  const paths = place()
  writeFileSync(connectionsFile(paths), '{"connections": [{"client": 1}]}')
  expect(() => readConnections(paths)).toThrow('is not a list of connections')
})
