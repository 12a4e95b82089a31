import { expect, test } from 'vitest'
import { parseServer, parseSettings } from './settings.ts'

const parse = (value: unknown) => parseSettings(JSON.stringify(value), 'mcp-settings.json')

/** The example of seed 002. */
const seedExample = {
  servers: [
    {
      name: 'acme-mcp',
      description: 'Acme MCP Server',
      transport: { type: 'streamableHttp', url: 'https://mcp.example.com' },
      toolScopes: {
        defaultScopes: ['read:apps'],
        toolScopes: { 'dashboard-viewer': ['read:dashboard'] },
      },
    },
  ],
}

test('U1 the settings example of seed 002 is accepted as it is', () => {
  expect(parse(seedExample)).toMatchObject([
    { ...seedExample.servers[0], enabled: true, timeoutSeconds: 60 },
  ])
})

test('U1 all three transports are accepted with their defaults', () => {
  const servers = parse({
    servers: [
      { name: 'a', transport: { type: 'stdio', command: 'node' } },
      { name: 'b', transport: { type: 'sse', url: 'http://localhost:1/sse' } },
      { name: 'c', transport: { type: 'streamableHttp', url: 'http://localhost:1/mcp' } },
    ],
  })
  expect(servers.map(({ transport }) => transport)).toEqual([
    { type: 'stdio', command: 'node', args: [], env: {} },
    { type: 'sse', url: 'http://localhost:1/sse', headers: {} },
    { type: 'streamableHttp', url: 'http://localhost:1/mcp', headers: {} },
  ])
})

test('U1 a file without servers has none', () => {
  expect(parse({})).toEqual([])
})

const stdio = { type: 'stdio', command: 'x' }

test.each([
  ['{', 'Invalid mcp-settings.json'],
  [JSON.stringify([]), 'expected object'],
  [
    JSON.stringify({ servers: [{ name: 'a', transport: { type: 'tcp' } }] }),
    'servers[0].transport',
  ],
  [JSON.stringify({ servers: [{ name: 'a', transport: stdio, tol: 1 }] }), 'tol'],
  [JSON.stringify({ servers: [{ name: 'a__b', transport: stdio }] }), 'servers[0].name'],
  [JSON.stringify({ servers: [{ name: 'a b', transport: stdio }] }), 'servers[0].name'],
  [JSON.stringify({ servers: [{ name: '-a', transport: stdio }] }), 'servers[0].name'],
  [
    JSON.stringify({ servers: ['A', 'a'].map((name) => ({ name, transport: stdio })) }),
    'a is used twice',
  ],
  [
    JSON.stringify({
      servers: [{ name: 'a', transport: { type: 'sse', url: 'https://me:pw@example.com' } }],
    }),
    'must not contain a user name',
  ],
  [
    JSON.stringify({ servers: [{ name: 'a', transport: { type: 'sse', url: 'file:///etc' } }] }),
    'http or https',
  ],
])('U1 invalid settings are refused with the path of the issue: %#', (text, message) => {
  expect(() => parseSettings(text, 'mcp-settings.json')).toThrow(message)
})

test.each(['cowork', 'files', 'jobs', 'work', 'Files'])('U4 the name %s is reserved', (name) => {
  expect(() => parseServer({ name, transport: stdio })).toThrow('is reserved')
})
