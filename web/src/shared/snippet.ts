export const clients = [
  { id: 'claude-code', name: 'Claude Code' },
  { id: 'codex', name: 'Codex' },
  { id: 'gemini', name: 'Gemini CLI' },
  { id: 'cursor', name: 'Cursor' },
  { id: 'vscode', name: 'VS Code' },
  { id: 'claude-desktop', name: 'Claude Desktop' },
] as const
export type ClientId = (typeof clients)[number]['id']

export type Snippet = { readonly lead: string; readonly text: string }
type SnippetInput = {
  readonly url: string
  readonly token: string
  /** The command that runs `cowork` on that machine. */
  readonly command?: readonly string[] | undefined
}

const json = (value: unknown) => JSON.stringify(value, null, 2)

/** Refers to the token by a variable if the client supports it (K4). */
const buildShellSnippet = ({ token }: SnippetInput): Snippet => ({
  lead: 'In the shell that starts the client, or in the shell profile:',
  text: `export COWORK_TOKEN=${token}`,
})

const buildShellSnippets = (given: SnippetInput, text: string): Snippet[] => [
  buildShellSnippet(given),
  { lead: 'Then run once:', text },
]

const authorizationHeader = (reference: string) => ({ Authorization: `Bearer ${reference}` })

/** Builds the configuration of a client. Claude Desktop supports stdio only, so it runs `cowork mcp`. */
export function buildSnippets(client: ClientId, given: SnippetInput): Snippet[] {
  const { url, token, command: [program = 'cowork', ...args] = [] } = given
  switch (client) {
    case 'claude-code':
      return buildShellSnippets(
        given,
        `claude mcp add --transport http --scope user cowork ${url} --header 'Authorization: Bearer \${COWORK_TOKEN}'`,
      )
    case 'codex':
      return buildShellSnippets(
        given,
        `codex mcp add cowork --url ${url} --bearer-token-env-var COWORK_TOKEN`,
      )
    case 'gemini':
      return buildShellSnippets(
        given,
        `gemini mcp add --scope user --transport http --header 'Authorization: Bearer $COWORK_TOKEN' cowork ${url}`,
      )
    case 'cursor':
      return [
        buildShellSnippet(given),
        {
          lead: 'In `~/.cursor/mcp.json`:',
          text: json({
            mcpServers: { cowork: { url, headers: authorizationHeader('${env:COWORK_TOKEN}') } },
          }),
        },
      ]
    case 'vscode':
      return [
        {
          lead: 'In `.vscode/mcp.json` or the `mcp.json` of your profile. VS Code asks for the token once:',
          text: json({
            inputs: [
              {
                type: 'promptString',
                id: 'cowork-token',
                description: 'cowork token',
                password: true,
              },
            ],
            servers: {
              cowork: { type: 'http', url, headers: authorizationHeader('${input:cowork-token}') },
            },
          }),
        },
      ]
    case 'claude-desktop':
      return [
        {
          lead: 'In `claude_desktop_config.json`. The file contains the token, so keep it private:',
          text: json({
            mcpServers: {
              cowork: { command: program, args: [...args, 'mcp'], env: { COWORK_TOKEN: token } },
            },
          }),
        },
      ]
  }
}
