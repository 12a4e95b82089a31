import { join } from 'node:path'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { clientIds } from '../choices.ts'
import { resolvePrefix } from '../lookup.ts'
import type { Edit } from './edits.ts'
import type { Place } from './json.ts'

/** How a client connects to cowork. Without `token`, the entry only refers to it (K4). */
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

type ClientEnvironment = {
  readonly env: Environment
  readonly home: string
  readonly platform: NodeJS.Platform
}

export type Client = {
  readonly id: (typeof clientIds)[number]
  readonly title: string
  readonly format: 'json' | 'toml'
  readonly file: (where: ClientEnvironment) => string
  /** Places that `connect` writes: the entry, then values it needs. */
  readonly places: readonly [Place, ...Place[]]
  readonly edits: (server: Server) => readonly Edit[]
  /** True if the client prompts for the token instead of reading a variable. */
  readonly asksForToken?: true
}

const bearer = (token: string | undefined, reference: string) => ({
  Authorization: `Bearer ${token ?? reference}`,
})

function appData({ env, home, platform }: ClientEnvironment, ...rest: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...rest)
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), ...rest)
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), ...rest)
}

type Row = Pick<Client, 'id' | 'title' | 'file' | 'asksForToken'> & {
  readonly format?: 'toml'
  readonly list?: string
  readonly before?: object
  readonly after?: object
  /** Builds the entry for HTTP; absent if the client supports only stdio. */
  readonly http?: (server: Extract<Server, { via: 'http' }>) => object
  /** Needed with an HTTP entry that contains no token. */
  readonly inputEdit?: Edit
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
    // Codex cannot store a bearer token, only the variable that contains it.
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
    // ${env:…} is not expanded in headers (microsoft/vscode#336232); VS Code prompts for an input once and stores it safely.
    http: ({ url, token }) => ({
      type: 'http',
      url,
      headers: bearer(token, `\${input:${inputId}}`),
    }),
    asksForToken: true,
    inputEdit: {
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
  const { format = 'json', list = 'mcpServers', before, after, http, inputEdit, ...about } = row
  const place: Place = [list, 'cowork']
  return {
    ...about,
    format,
    places: [place, ...(inputEdit ? [inputEdit.place] : [])],
    edits(server) {
      const { token } = server
      if (server.via === 'stdio') {
        const { command, args } = server
        const env = token && { env: { COWORK_TOKEN: token } }
        return [{ place, value: { ...before, command, args, ...after, ...env } }]
      }
      if (!http)
        throw new CoworkError('usage', `${about.title} supports only stdio servers.`, {
          hint: 'Omit --http.',
        })
      return [{ place, value: http(server) }, ...(inputEdit && !token ? [inputEdit] : [])]
    },
  }
})

export function findClient(given: string): Client {
  const id = resolvePrefix(given, clientIds, 'client')
  const client = clients.find((row) => row.id === id)
  if (!client) throw new CoworkError('not_found', `Unknown client: ${id}.`)
  return client
}
