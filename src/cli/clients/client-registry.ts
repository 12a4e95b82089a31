import { join } from 'node:path'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { clientIds } from '../choices.ts'
import { resolvePrefix } from '../lookup.ts'
import type { Edit } from './edits.ts'
import type { Place } from './json.ts'

/** How a client reaches us. With a token it is written out; else the entry only says where to find it (K4). */
export type Server =
  | {
      readonly via: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly token?: string
    }
  | {
      readonly via: 'http'
      readonly url: string
      readonly variable: string
      readonly token?: string
    }

type Where = {
  readonly env: Environment
  readonly home: string
  readonly platform: NodeJS.Platform
}

export type Client = {
  readonly id: (typeof clientIds)[number]
  readonly title: string
  readonly format: 'json' | 'toml'
  readonly file: (where: Where) => string
  /** Where we may write: the entry itself, then what it needs beside it. */
  readonly places: readonly [Place, ...Place[]]
  readonly edits: (server: Server) => readonly Edit[]
  /** How a token comes to a client that was told a variable: by its environment, or by asking once. */
  readonly asksForToken?: true
}

const bearer = (token: string | undefined, reference: string) => ({
  Authorization: `Bearer ${token ?? reference}`,
})

function appData({ env, home, platform }: Where, ...rest: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...rest)
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), ...rest)
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), ...rest)
}

type Row = Pick<Client, 'id' | 'title' | 'file' | 'asksForToken'> & {
  readonly format?: 'toml'
  readonly list?: string
  readonly before?: object
  readonly after?: object
  /** The entry of a server over HTTP; absent where the client takes none. */
  readonly http?: (server: Extract<Server, { via: 'http' }>) => object
  /** Needed beside an entry over HTTP that has no token in it. */
  readonly asked?: Edit
}

const inputId = 'cowork-token'

const rows: readonly Row[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    file: ({ env, home }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
    before: { type: 'stdio' },
    after: { env: {} },
    http: ({ url, variable, token }) => ({
      type: 'http',
      url,
      headers: bearer(token, `\${${variable}}`),
    }),
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    list: 'mcp_servers',
    file: ({ env, home }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    // Codex has no place for a bearer token itself, only for the variable that holds it.
    http: ({ url, variable, token }) =>
      token ? { url, http_headers: bearer(token, '') } : { url, bearer_token_env_var: variable },
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    http: ({ url, variable, token }) => ({
      url,
      type: 'http',
      headers: bearer(token, `$${variable}`),
    }),
  },
  {
    id: 'cursor',
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    http: ({ url, variable, token }) => ({ url, headers: bearer(token, `\${env:${variable}}`) }),
  },
  {
    id: 'vscode',
    title: 'VS Code',
    list: 'servers',
    file: (where) => appData(where, 'Code', 'User', 'mcp.json'),
    before: { type: 'stdio' },
    // ${env:…} is not replaced in headers (microsoft/vscode#336232); an input is asked for once and kept safe.
    http: ({ url, token }) => ({
      type: 'http',
      url,
      headers: bearer(token, `\${input:${inputId}}`),
    }),
    asksForToken: true,
    asked: {
      place: ['inputs', { id: inputId }],
      value: { type: 'promptString', id: inputId, description: 'Token for cowork', password: true },
    },
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    file: (where) => appData(where, 'Claude', 'claude_desktop_config.json'),
  },
]

export const clients = rows.map((row): Client => {
  const { format = 'json', list = 'mcpServers', before, after, http, asked, ...about } = row
  const place: Place = [list, 'cowork']
  return {
    ...about,
    format,
    places: [place, ...(asked ? [asked.place] : [])],
    edits(server) {
      const { token } = server
      if (server.via === 'stdio') {
        const { command, args } = server
        const env = token && { env: { COWORK_TOKEN: token } }
        return [{ place, value: { ...before, command, args, ...after, ...env } }]
      }
      if (!http)
        throw new CoworkError('usage', `${about.title} takes servers over stdio only.`, {
          hint: 'Leave out --http.',
        })
      return [{ place, value: http(server) }, ...(asked && !token ? [asked] : [])]
    },
  }
})

export function findClient(given: string): Client {
  const id = resolvePrefix(given, clientIds, 'client')
  const found = clients.find((client) => client.id === id)
  if (!found) throw new CoworkError('not_found', `There is no client named ${id}.`)
  return found
}
