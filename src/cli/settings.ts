import { applySecrets, loadConfig, readSecrets, resolveEnvironment } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import type { Context } from './context.ts'
import type { SecretHandover } from './daemon.ts'

export type Settings = {
  readonly config: Config
  readonly mcpSettings: string
  /** All secrets in memory, for redaction. */
  readonly secrets: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly warnings: readonly string[]
  /** Resolved secrets for a daemon that cannot prompt. */
  readonly handover: SecretHandover
}

export type StartFlags = {
  readonly port?: string | undefined
  /** False by `--no-auth`: the work endpoint needs no key, and none is looked up (W2). */
  readonly auth?: boolean | undefined
}

type Options = {
  /** Flags of `up`, the only command that reads PORT, TRANSPORT and LOG_LEVEL (SV6). */
  readonly forUp?: StartFlags
  /** Secrets that the terminal resolved. */
  readonly handover?: SecretHandover
}

/** Loads the configuration and resolves its secrets here, where a person can be prompted (I8). */
export async function loadSettings(
  { env: given, envFileValues, configFile }: Context,
  { forUp, handover = {} }: Options = {},
): Promise<Settings> {
  const prompt = { env: given, interactive: process.stdin.isTTY }
  const files = handover.env
    ? { env: handover.env, secrets: Object.values(handover.env), warnings: [] }
    : await resolveEnvironment(envFileValues, prompt)
  const env = { ...given, ...files.env }
  const flags = [{ path: ['server', 'port'], value: forUp?.port, origin: '--port' }]
  const loaded = loadConfig({ file: configFile, env, flags, forUp: forUp !== undefined })
  const config = forUp?.auth === false ? withoutKey(loaded.config) : loaded.config
  const { values, warnings } = handover.secrets
    ? { values: { ...handover.secrets }, warnings: [] }
    : await readSecrets(config, { ...prompt, env })
  const applied = applySecrets(config, values)
  return {
    config: applied.config,
    mcpSettings: loaded.paths.mcpSettings,
    secrets: [
      ...applied.secrets,
      ...files.secrets,
      ...(env['COWORK_TOKEN'] ? [env['COWORK_TOKEN']] : []),
    ],
    env,
    warnings: [...loaded.warnings, ...files.warnings, ...warnings],
    handover: { env: { ...files.env }, secrets: values },
  }
}

function withoutKey(config: Config): Config {
  const { api_key: _, ...work } = config.work
  return { ...config, work }
}
