import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { choiceArguments, choiceQuery } from '../agent-plan.ts'
import { findClient, clients } from './client-registry.ts'
import type { Client, Server } from './client-registry.ts'
import { readClientFile, writeClientFile } from './client-file.ts'
import { applyEdits, revertEdits, getValue } from './edits.ts'

const stdio = {
  via: 'stdio',
  command: '/usr/bin/node',
  args: ['/opt/cowork/bin/cowork.mjs', 'mcp', '--agent', 'desk'],
} satisfies Server
const http = {
  via: 'http',
  url: 'http://localhost:8765/mcp',
  variable: 'COWORK_TOKEN_X',
} satisfies Server

const keyOf = ({ places: [[key]] }: Client) => (typeof key === 'string' ? key : '')

/** Existing file contents: empty, from a program, with comments, with CRLF. */
const befores: Record<string, (client: Client) => string> = {
  fresh: () => '',
  servers: (client) =>
    client.format === 'toml'
      ? 'model = "gpt"\n\n[mcp_servers.other]\nurl = "https://other.example/mcp"\n'
      : `${JSON.stringify({ theme: 'dark', [keyOf(client)]: { other: { url: 'https://other.example/mcp' } } }, null, 4)}\n`,
  comments: (client) =>
    client.format === 'toml'
      ? '# mine\nmodel = "gpt" # the big one\n\n[mcp_servers.other] # theirs\nargs = [\n  "a", # first\n]\n# the end'
      : `// mine\n{\n\t"${keyOf(client)}": { // servers\n\t\t// theirs\n\t\t"other": { "url": "x", }, /* off */\n\t},\n} // the end`,
  crlf: (client) => (befores['servers']?.(client) ?? '').replaceAll('\n', '\r\n'),
}

const cases = clients.flatMap((client) =>
  Object.keys(befores).map((name) => ({ client, id: client.id, name })),
)

const golden = (name: string) => `../../../test/__clients__/${name}.golden`
/** Git would normalize the line ends. */
const visible = (text: string) => text.replaceAll('\r', '␍')

describe.each(cases)('$id, $name', ({ client, name }) => {
  const text = befores[name]?.(client) ?? ''
  const source = { file: 'config', text }

  test('K4 connecting writes the client’s format, and disconnecting restores the bytes', async () => {
    const edits = client.edits(stdio)
    const put = applyEdits(client.format, source, edits)
    await expect(visible(put.text)).toMatchFileSnapshot(golden(`${client.id}-${name}`))
    expect(getValue(client.format, { ...source, text: put.text }, client.places[0])).toMatchObject({
      command: '/usr/bin/node',
    })
    const places = edits.map(({ place }, index) => ({ place, made: put.made[index] }))
    expect(revertEdits(client.format, { ...source, text: put.text }, places).text).toBe(text)
  })
})

test.each(clients.filter(({ id }) => id !== 'claude-desktop'))(
  'K4 over HTTP the entry of $id refers to the token, and contains it only inline',
  async (client) => {
    const source = { file: 'config', text: '' }
    const { text, made } = applyEdits(client.format, source, client.edits(http))
    await expect(text).toMatchFileSnapshot(golden(`${client.id}-http`))
    const places = client.places.map((place, index) => ({ place, made: made[index] }))
    expect(revertEdits(client.format, { ...source, text }, places).text).toBe('')
    const inline = applyEdits(
      client.format,
      source,
      client.edits({ ...http, token: 'sk-cowork-abc' }),
    )
    expect(inline.text).toContain('sk-cowork-abc')
    expect(inline.text).not.toContain('COWORK_TOKEN_X')
    expect(JSON.stringify(inline.hunks)).not.toContain('sk-cowork-abc')
  },
)

const choice = {
  tools: ['files', 'work'],
  exclude: ['delete_file'],
  read_only: true,
  results: 'structured',
}

test.each(clients)('RA8 the entry of $id names the tools and the results', async (client) => {
  const args = [...stdio.args, ...choiceArguments(choice)]
  const servers: Server[] = [{ ...stdio, args }]
  if (client.id !== 'claude-desktop')
    servers.push({ ...http, url: `${http.url}${choiceQuery(choice)}` })
  const texts = servers.map(
    (server) => applyEdits(client.format, { file: 'config', text: '' }, client.edits(server)).text,
  )
  await expect(texts.join('\n')).toMatchFileSnapshot(golden(`${client.id}-tools`))
})

test('K4 Claude Desktop supports only stdio', () => {
  expect(() => findClient('claude-desktop').edits(http)).toThrow('only stdio')
})

test.each(clients)('K4 the inline token of $id is in its environment', (client) => {
  const { text } = applyEdits(client.format, { file: 'config', text: '' }, [
    ...client.edits({ ...stdio, token: 'sk-cowork-abc' }),
  ])
  expect(getValue(client.format, { file: 'config', text }, client.places[0])).toMatchObject({
    env: { COWORK_TOKEN: 'sk-cowork-abc' },
  })
})

test('K4 uses the config file of each client', () => {
  const at = (platform: NodeJS.Platform, env = {}) =>
    clients.map(({ file }) => file({ env, home: '/home/a', platform }))
  expect(at('linux')).toEqual([
    '/home/a/.claude.json',
    '/home/a/.codex/config.toml',
    '/home/a/.gemini/settings.json',
    '/home/a/.cursor/mcp.json',
    '/home/a/.config/Code/User/mcp.json',
    '/home/a/.config/Claude/claude_desktop_config.json',
  ])
  expect(at('darwin').slice(-2)).toEqual([
    '/home/a/Library/Application Support/Code/User/mcp.json',
    '/home/a/Library/Application Support/Claude/claude_desktop_config.json',
  ])
  const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', XDG_CONFIG_HOME: '/d', APPDATA: '/r' }
  expect(at('linux', env)[0]).toBe('/c/.claude.json')
  expect(at('linux', env)[1]).toBe('/x/config.toml')
  expect(at('linux', env)[4]).toBe('/d/Code/User/mcp.json')
  expect(at('win32', env)[5]).toBe('/r/Claude/claude_desktop_config.json')
})

test('K2, K4 a client can be named by a prefix', () => {
  expect(findClient('cod').id).toBe('codex')
  expect(() => findClient('claude')).toThrow('Ambiguous client')
  expect(() => findClient('emacs')).toThrow('Unknown client: emacs')
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cowork-clients-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test.each(clients)('K4 a broken or read-only file of $id is refused and unchanged', (client) => {
  const file = join(folder(), 'config')
  writeFileSync(file, '{"mcpServers": [')
  expect(() => applyEdits(client.format, readClientFile(file), client.edits(stdio))).toThrow(
    /config:\d+:\d+: .* The file was not changed/,
  )
  writeFileSync(file, '')
  chmodSync(file, 0o400)
  expect(() => readClientFile(file)).toThrow('read-only')
  expect(statSync(file).mode & 0o777).toBe(0o400)
})

test('K4 a client reads back exactly the written values', () => {
  const word = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(fc.constantFrom(...clients), word, fc.array(word), (client, command, args) => {
      const server: Server = { via: 'stdio', command, args }
      const { text } = applyEdits(client.format, { file: 'config', text: '' }, client.edits(server))
      const value = getValue(client.format, { file: 'config', text }, client.places[0])
      expect(value).toMatchObject({ command, args })
    }),
  )
})

test('K4 writing keeps the mode and a backup, and refuses a file that another program changed', () => {
  const file = join(folder(), 'config')
  writeFileSync(file, 'old', { mode: 0o640 })
  chmodSync(file, 0o640)
  const before = readClientFile(file)
  const backup = writeClientFile(before, 'new', 0)
  expect(backup).toBe(`${before.target}.cowork-19700101T000000000Z.bak`)
  expect(readFileSync(backup ?? '', 'utf8')).toBe('old')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).mode & 0o777).toBe(0o640)
  expect(() => writeClientFile(before, 'newer', 1)).toThrow('changed by another program')
  expect(readFileSync(file, 'utf8')).toBe('new')
})
