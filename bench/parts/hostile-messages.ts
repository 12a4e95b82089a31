// Messages with which an agent can keep the daemon busy, each serialized once.
export const hostileKinds = [
  'wide',
  'widest-allowed',
  'deep',
  'list',
  'text',
  'secrets',
  'inner',
  'arguments',
  'batch',
  'file',
  'small',
  'reads',
] as const
export type HostileKind = (typeof hostileKinds)[number]
export type HostileMessage = { readonly headers: readonly string[]; readonly body: Buffer }

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at % 10]))

const proposal = (change: unknown) => ({
  name: 'cowork_propose',
  arguments: {
    domain: 'crm.deals',
    action: 'update_deal',
    target: `deal_${Math.floor(Math.random() * 1e9)}`,
    proposed_change: change,
    confidence: 0.9,
    reasoning: 'Because.',
  },
})

type Params = { readonly name: string; readonly arguments: object }

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
/** Placeholder for a value that JSON.stringify cannot serialize. */
const hole = '"__hole__"'

function listParams(kind: HostileKind): { params: Params; fill?: string }[] {
  switch (kind) {
    case 'wide':
      return [{ params: proposal(keys(100_000)) }]
    case 'widest-allowed':
      return [1000, 2000, 4000, 8000, 16_000].map((count) => ({ params: proposal(keys(count)) }))
    case 'deep':
      return [60, 100_000].map((depth) => ({ params: proposal('__hole__'), fill: nested(depth) }))
    case 'list':
      return [2000, 4000, 100_000].map((length) => ({
        params: proposal({ ids: Array.from({ length }, (_, at) => at) }),
      }))
    case 'text':
      return [
        { params: proposal({ note: 'x'.repeat(250_000) }) },
        { params: proposal({ note: 'x'.repeat(3_000_000) }) },
      ]
    case 'secrets':
      return [
        'a=',
        'token=x ',
        'eyJ.',
        '://a:b@',
        '"a": "',
        'bearer ',
        '-----BEGIN PRIVATE KEY-----',
        'a.b[0]/',
      ].map((piece) => ({
        params: proposal({ note: piece.repeat(240_000 / piece.length) }),
      }))
    case 'inner':
      return [2000, 4000, 25_000].map((count) => ({
        params: proposal(JSON.stringify(keys(count))),
      }))
    case 'arguments':
      return [2000, 4000, 60_000].map((count) => ({
        params: { name: 'cowork_status', arguments: keys(count) },
      }))
    case 'file':
      return [3_000_000, 200_000].map((length) => ({
        params: {
          name: 'create_file',
          arguments: {
            path: `big-${length}.txt`,
            content: 'line\n'.repeat(length / 5),
            overwrite: true,
          },
        },
      }))
    case 'reads':
      return [
        { params: { name: 'get_audit_log', arguments: { limit: 1000 } } },
        { params: { name: 'cowork_status', arguments: {} } },
        { params: { name: 'list_files', arguments: {} } },
      ]
    case 'small':
    case 'batch':
      return [
        {
          params: {
            name: 'cowork_log',
            arguments: { domain: 'crm.deals', action: 'update_deal', target: 'deal_1' },
          },
        },
      ]
  }
}

let lastId = 0

function spelled(params: Params, isModern: boolean, fill = hole): string {
  const message = {
    jsonrpc: '2.0',
    id: ++lastId,
    method: 'tools/call',
    params: {
      ...params,
      ...(isModern && {
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientCapabilities`]: {},
          [`${meta}/clientInfo`]: { name: 'bench', version: '1' },
        },
      }),
    },
  }
  return JSON.stringify(message).replace(hole, fill)
}

export function hostileMessages(
  kinds: readonly HostileKind[],
  via: 'http' | 'stdio',
): HostileMessage[] {
  return kinds.flatMap((kind) =>
    listParams(kind).map(({ params, fill }) => {
      const message = spelled(params, via === 'http', fill)
      const body =
        kind === 'batch' ? `[${Array.from({ length: 2000 }, () => message).join()}]` : message
      return {
        headers: [
          `MCP-Protocol-Version: ${version}`,
          'Mcp-Method: tools/call',
          `Mcp-Name: ${params.name}`,
        ],
        body: Buffer.from(body),
      }
    }),
  )
}
