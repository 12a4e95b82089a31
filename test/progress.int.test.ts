import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'

const folders = 5
const filesEach = 30
const megabytes = 4

describe.each(['legacy', 'auto'] as const)('SV14 progress in the %s era', (mode) => {
  let app: TestApp
  let client: Client

  beforeAll(async () => {
    app = await startTestApp()
    for (let folder = 0; folder < folders; folder += 1) {
      mkdirSync(join(app.workspace, 'many', `f${folder}`), { recursive: true })
      for (let file = 0; file < filesEach; file += 1)
        writeFileSync(join(app.workspace, 'many', `f${folder}`, `${file}.txt`), 'needle in here\n')
    }
    writeFileSync(join(app.workspace, 'large.bin'), Buffer.alloc(megabytes * 1024 * 1024, 1))
    client = new Client({ name: 'probe', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl)))
  })
  afterAll(async () => {
    await client.close()
    await app.close()
  })

  const files = folders * filesEach
  const bytes = megabytes * 1024 * 1024
  test.each([
    ['search_files', { query: 'needle', search_type: 'content', path: 'many' }, files],
    ['search_files', { query: 'txt', path: 'many' }, files],
    ['list_files', { path: 'many', recursive: true }, files + folders],
    ['file_tree', { path: 'many' }, files + folders],
    ['copy_file', { source: 'large.bin', destination: 'copy.bin' }, bytes],
  ])('%s %j grows up to the total', async (name, args, total) => {
    const updates: { progress: number; total?: number | undefined }[] = []
    const result = await client.callTool(
      { name, arguments: args },
      { onprogress: (one) => void updates.push(one) },
    )
    expect(result.isError).not.toBe(true)
    await expect.poll(() => updates.at(-1)).toMatchObject({ progress: total, total })
    const numbers = updates.map(({ progress }) => progress)
    expect(numbers.length).toBeGreaterThan(1)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  })
})
