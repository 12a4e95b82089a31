import { join } from 'node:path'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { clientIds } from '../choices.ts'
import { byPrefix } from '../lookup.ts'
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

const entry: Place = ['mcpServers', 'cowork']

const inherited = (token: string | undefined) => token && { env: { COWORK_TOKEN: token } }

const bearer = (token: string | undefined, reference: string) => ({
  Authorization: `Bearer ${token ?? reference}`,
})

/** Where a desktop program keeps what is its own. */
function appData({ env, home, platform }: Where, ...rest: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...rest)
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), ...rest)
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), ...rest)
}

const claudeCode: Client = {
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  places: [entry],
  file: ({ env, home }) => join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'),
  edits: (server) => {
    const { token } = server
    const value =
      server.via === 'stdio'
        ? {
            type: 'stdio',
            command: server.command,
            args: server.args,
            env: {},
            ...inherited(token),
          }
        : { type: 'http', url: server.url, headers: bearer(token, `\${${server.variable}}`) }
    return [{ place: entry, value }]
  },
}

const codexEntry: Place = ['mcp_servers', 'cowork']

const codex: Client = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  places: [codexEntry],
  file: ({ env, home }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
  edits: (server) => {
    const { token } = server
    // Codex has no place for a bearer token itself, only for the variable that holds it.
    const value =
      server.via === 'stdio'
        ? { command: server.command, args: server.args, ...inherited(token) }
        : token
          ? { url: server.url, http_headers: bearer(token, '') }
          : { url: server.url, bearer_token_env_var: server.variable }
    return [{ place: codexEntry, value }]
  },
}

const gemini: Client = {
  id: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  places: [entry],
  file: ({ home }) => join(home, '.gemini', 'settings.json'),
  edits: (server) => {
    const { token } = server
    const value =
      server.via === 'stdio'
        ? { command: server.command, args: server.args, ...inherited(token) }
        : { url: server.url, type: 'http', headers: bearer(token, `$${server.variable}`) }
    return [{ place: entry, value }]
  },
}

const cursor: Client = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  places: [entry],
  file: ({ home }) => join(home, '.cursor', 'mcp.json'),
  edits: (server) => {
    const { token } = server
    const value =
      server.via === 'stdio'
        ? { command: server.command, args: server.args, ...inherited(token) }
        : { url: server.url, headers: bearer(token, `\${env:${server.variable}}`) }
    return [{ place: entry, value }]
  },
}

const vscodeEntry: Place = ['servers', 'cowork']
const vscodeInput = { id: 'cowork-token' }

const vscode: Client = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  places: [vscodeEntry, ['inputs', vscodeInput]],
  file: (where) => appData(where, 'Code', 'User', 'mcp.json'),
  asksForToken: true,
  edits: (server) => {
    const { token } = server
    if (server.via === 'stdio') {
      const { command, args } = server
      const value = { type: 'stdio', command, args, ...inherited(token) }
      return [{ place: vscodeEntry, value }]
    }
    // ${env:…} is not replaced in headers (microsoft/vscode#336232); an input is asked for once and kept safe.
    const { id } = vscodeInput
    const headers = bearer(token, `\${input:${id}}`)
    const input = { type: 'promptString', id, description: 'Token for cowork', password: true }
    return [
      { place: vscodeEntry, value: { type: 'http', url: server.url, headers } },
      ...(token ? [] : [{ place: ['inputs', vscodeInput], value: input }]),
    ]
  },
}

const claudeDesktop: Client = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  places: [entry],
  file: (where) => appData(where, 'Claude', 'claude_desktop_config.json'),
  edits: (server) => {
    if (server.via === 'http')
      throw new CoworkError('usage', 'Claude Desktop takes servers over stdio only.', {
        hint: 'Leave out --http.',
      })
    const { command, args, token } = server
    return [{ place: entry, value: { command, args, ...inherited(token) } }]
  },
}

export const clients: readonly Client[] = [claudeCode, codex, gemini, cursor, vscode, claudeDesktop]

export function clientNamed(given: string): Client {
  const id = byPrefix(given, clientIds, 'client')
  const found = clients.find((client) => client.id === id)
  if (!found) throw new CoworkError('not_found', `There is no client named ${id}.`)
  return found
}
