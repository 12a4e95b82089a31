import { applySecrets, loadConfig, readSecrets, resolveEnvironment } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import type { Context } from './context.ts'
import type { SecretHandover } from './daemon.ts'

export type Settings = {
  readonly config: Config
  /** Every secret in memory, so that it is redacted wherever it turns up. */
  readonly secrets: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly warnings: readonly string[]
  /** The same for a daemon that cannot ask anybody. */
  readonly handover: SecretHandover
}

export type StartFlags = {
  readonly port?: string | undefined
  /** False by `--no-auth`: the address for work asks for no key, and none is looked up (W2). */
  readonly auth?: boolean | undefined
}

type Options = {
  /** For `up`, which alone reads PORT, TRANSPORT and LOG_LEVEL (SV6), with what its flags say. */
  readonly forUp?: StartFlags
  /** What a terminal has resolved already. */
  readonly handed?: SecretHandover
}

/** The configuration with its secrets: references are resolved here, where a person may be asked (I8). */
export async function loadSettings(
  { env: given, fromFiles, configFile }: Context,
  { forUp, handed = {} }: Options = {},
): Promise<Settings> {
  const asking = { env: given, interactive: process.stdin.isTTY }
  const files = handed.env
    ? { env: handed.env, secrets: Object.values(handed.env), warnings: [] }
    : await resolveEnvironment(fromFiles, asking)
  const env = { ...given, ...files.env }
  const flags = [{ path: ['server', 'port'], value: forUp?.port, origin: '--port' }]
  const loaded = loadConfig({ file: configFile, env, flags, forUp: forUp !== undefined })
  const config = forUp?.auth === false ? withoutKey(loaded.config) : loaded.config
  const { values, warnings } = handed.secrets
    ? { values: { ...handed.secrets }, warnings: [] }
    : await readSecrets(config, { ...asking, env })
  const applied = applySecrets(config, values)
  return {
    config: applied.config,
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
