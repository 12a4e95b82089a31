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

function createPaths() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-connections-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return statePaths(folder)
}

const connection: Connection = {
  client: 'codex',
  file: '/home/a/.codex/config.toml',
  agent: 'codex',
  via: 'stdio',
  created_file: false,
  entries: [{ place: ['mcp_servers', 'cowork'], digest: 'd', made: { gap: '\n' } }],
  connected_at: '2026-01-01T00:00:00Z',
}

test('K4 stores one private connection per client and file', () => {
  const paths = createPaths()
  expect(readConnections(paths)).toEqual([])
  saveConnection(paths, connection)
  saveConnection(paths, { ...connection, agent: 'other' })
  saveConnection(paths, { ...connection, file: '/here/config.toml' })
  expect(readConnections(paths).map(({ file, agent }) => [file, agent])).toEqual([
    ['/home/a/.codex/config.toml', 'other'],
    ['/here/config.toml', 'codex'],
  ])
  expect(statSync(connectionsFile(paths)).mode & 0o777).toBe(0o600)
  deleteConnection(paths, connection)
  expect(readConnections(paths).map(({ file }) => file)).toEqual(['/here/config.toml'])
})

test('K4 a damaged connections file is an error', () => {
  const paths = createPaths()
  writeFileSync(connectionsFile(paths), '{"connections": [{"client": 1}]}')
  expect(() => readConnections(paths)).toThrow('Invalid connections file')
})
