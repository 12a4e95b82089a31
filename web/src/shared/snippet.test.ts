import { expect, test } from 'vitest'
import { clients, buildSnippets } from './snippet.ts'

const given = { url: 'http://localhost:8765/mcp', token: 'sk-cowork-0' }

test.each(clients)('K4 $name gets the URL or the bridge, and the token by reference', ({ id }) => {
  const texts = buildSnippets(id, given).map(({ text }) => text)
  const all = texts.join('\n')
  if (id === 'claude-desktop') expect(all).toContain('"mcp"')
  else expect(all).toContain(given.url)
  // Each client's own form, beside the line that sets the variable.
  const config = texts.filter((text) => !text.startsWith('export ')).join('\n')
  expect(config.includes(given.token)).toBe(id === 'claude-desktop')
})

test('K4 Claude Desktop starts the bridge without a shell', () => {
  const textOf = (command?: readonly string[]) =>
    buildSnippets('claude-desktop', { ...given, command })[0]?.text ?? ''
  const started = (text: string) =>
    (JSON.parse(text) as { mcpServers: { cowork: object } }).mcpServers.cowork
  expect(started(textOf())).toMatchObject({ command: 'cowork', args: ['mcp'] })
  const words = ['node', '/opt/cowork/bin/cowork.mjs', '--state', '/data']
  expect(started(textOf(words))).toMatchObject({
    command: 'node',
    args: ['/opt/cowork/bin/cowork.mjs', '--state', '/data', 'mcp'],
  })
})

test.each(['cursor', 'vscode', 'claude-desktop'] as const)('K4 the file for %s is JSON', (id) => {
  const text = buildSnippets(id, given).at(-1)?.text ?? ''
  expect(Object.keys(JSON.parse(text) as object)).toContain(
    id === 'vscode' ? 'servers' : 'mcpServers',
  )
})
