// The clients of the proof: how each is connected to cowork and started with the stand-in as its model.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Exact versions: another version may show its model another part of a result. `script` completes the installation,
 * because npm may be configured not to run it.
 */
export const packages = [
  { name: '@anthropic-ai/claude-code', version: '2.1.325', script: 'install.cjs' },
  { name: '@openai/codex', version: '0.166.0' },
  { name: '@google/gemini-cli', version: '0.61.0' },
  { name: 'opencode-ai', version: '1.18.33', script: 'postinstall.mjs' },
]

/**
 * - `calls`: the client name that the ledger records.
 * - `prepare`: writes other settings that the client needs.
 * - `connect` and `disconnect`: write and remove the entry of cowork in the client's own configuration.
 * - `list` prints the servers that the client knows; `connected` matches when cowork is one of them.
 * - `use`: one session without a terminal that may call every tool of cowork.
 * - `env`: the address of the model, and settings that keep the client off the internet.
 */
export const clients = [
  {
    id: 'claude-code',
    calls: 'claude-code',
    ...connectedByCowork('claude-code'),
    list: ['claude', 'mcp', 'list'],
    connected: /^cowork: .* Connected$/m,
    use: () => ['claude', '-p', 'Look.', '--allowedTools', 'mcp__cowork'],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    id: 'codex',
    calls: 'codex-mcp-client',
    ...connectedByCowork('codex'),
    list: ['codex', 'mcp', 'list'],
    connected: /^cowork .* enabled /m,
    use(model) {
      const provider = `{name="stand-in",base_url="${model}/v1",wire_api="responses",env_key="STAND_IN_KEY"}`
      const settings = [
        'model_provider=stand_in',
        `model_providers.stand_in=${provider}`,
        // The limit of every model that Codex ships; for an unknown model Codex uses a quarter.
        'tool_output_token_limit=10000',
      ]
      const options = settings.flatMap((setting) => ['-c', setting])
      // Without a terminal Codex refuses calls that need a person's approval.
      const allowed = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
      return ['codex', 'exec', ...allowed, '-m', 'stand-in', ...options, 'Look.']
    },
    env: () => ({ STAND_IN_KEY: 'none' }),
  },
  {
    id: 'gemini',
    calls: 'gemini-cli-mcp-client',
    ...connectedByCowork('gemini'),
    // With another model address it asks for a login, unless the project settings disable that.
    prepare: ({ cwd }) =>
      write(
        join(cwd, '.gemini', 'settings.json'),
        JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          general: { disableAutoUpdate: true },
        }),
      ),
    list: ['gemini', 'mcp', 'list'],
    connected: /cowork: .* - Connected$/m,
    use: () => ['gemini', '-m', 'gemini-2.5-flash', '--yolo', '-p', 'Look.'],
    env: (model) => ({
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_API_KEY: 'none',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      // Otherwise it starts itself a second time, and stopping the first process leaves the second.
      GEMINI_CLI_NO_RELAUNCH: 'true',
    }),
  },
  {
    id: 'opencode',
    calls: 'opencode',
    // `cowork connect` does not support opencode: its file is written manually, as in docs/connecting.md.
    async connect({ home, cowork, launch, url }, { isHttp, variable }) {
      const { token } = JSON.parse(await cowork('agents', 'add', 'opencode', '--json'))
      write(join(home, '.cowork', 'agents', 'opencode.token'), token, 0o600)
      const entry = isHttp
        ? {
            type: 'remote',
            url: `${url}/mcp`,
            oauth: false,
            headers: { Authorization: `Bearer {env:${variable}}` },
          }
        : { type: 'local', command: [...launch, 'mcp', '--agent', 'opencode'] }
      write(opencodeFile(home), JSON.stringify({ mcp: { cowork: entry } }))
    },
    async disconnect({ home, cowork }) {
      rmSync(opencodeFile(home))
      await cowork('agents', 'revoke', 'opencode')
    },
    list: ['opencode', 'mcp', 'list'],
    connected: /✓ cowork /,
    use: () => ['opencode', 'run', '--model', 'stand-in/stand-in', 'Look.'],
    env: (model) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeModel(model)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
  },
]

function connectedByCowork(id) {
  return {
    connect: ({ cowork }, { isHttp }) =>
      cowork('connect', id, '--yes', ...(isHttp ? ['--http'] : [])),
    disconnect: ({ cowork }) => cowork('disconnect', id, '--yes'),
  }
}

const opencodeFile = (home) => join(home, '.config', 'opencode', 'opencode.json')

const opencodeModel = (url) => ({
  permission: 'allow',
  share: 'disabled',
  small_model: 'stand-in/stand-in',
  provider: {
    'stand-in': {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: {
        'stand-in': {
          attachment: true,
          tool_call: true,
          modalities: { input: ['text', 'image'], output: ['text'] },
          limit: { context: 1_000_000, output: 8000 },
        },
      },
    },
  },
})

function write(file, text, mode) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
}
