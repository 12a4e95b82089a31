import { CoworkError } from '#base/errors.ts'
import type { Environment } from './env.ts'
import { formatConfigPath } from './schema-issues.ts'
import { isPostgresUrl, isReference } from './field-types.ts'
import { deepFreeze } from './load.ts'
import type { Config } from './schema.ts'
import type { SecretOptions } from './secret-sources.ts'
import { resolveReference } from './secret-sources.ts'
import type { ConfigPath } from './schema-lookup.ts'
import { mapMarked } from './schema-lookup.ts'

export type ResolvedSecrets = {
  config: Config
  /** Every secret value now in memory, for redaction. */
  secrets: string[]
  warnings: string[]
}

/** The secret values of a configuration by reference. A terminal passes them to the daemon that it starts. */
export type SecretValues = Record<string, string>

/** Resolves every secret of the configuration sequentially, so that prompts do not mix (I8). */
export async function resolveSecrets(
  config: Config,
  options: SecretOptions = {},
): Promise<ResolvedSecrets> {
  const { values, warnings } = await readSecrets(config, options)
  return { ...applySecrets(config, values), warnings }
}

export async function readSecrets(
  config: Config,
  options: SecretOptions = {},
): Promise<{ values: SecretValues; warnings: string[] }> {
  const references = new Map<string, ConfigPath>()
  mapMarked('x-secret', config, (text, path) => {
    if (isReference(text) && !references.has(text)) references.set(text, path)
    return text
  })
  const warnings: string[] = []
  const values: [string, string][] = []
  for (const [reference, path] of references)
    values.push([
      reference,
      await resolveReference(reference, formatConfigPath(path), options, warnings),
    ])
  return { values: Object.fromEntries(values), warnings }
}

export function applySecrets(
  config: Config,
  values: SecretValues,
): Omit<ResolvedSecrets, 'warnings'> {
  const secrets = new Set<string>()
  const resolved = mapMarked('x-secret', config, (text) => {
    const value = Object.hasOwn(values, text) ? (values[text] ?? text) : text
    for (const part of [value, ...extractPasswords(value)]) secrets.add(part)
    return value
  })
  if (resolved.storage.url !== undefined && !isPostgresUrl(resolved.storage.url))
    throw new CoworkError('config_invalid', 'storage.url does not resolve to a postgres:// URL.', {
      hint: 'Correct the secret; its value is not shown here.',
    })
  return { config: deepFreeze(resolved), secrets: [...secrets] }
}

/** Resolves the values of an env file or of the environment that are references. */
export async function resolveEnvironment(
  env: Environment,
  options: SecretOptions = {},
): Promise<{ env: Record<string, string>; secrets: string[]; warnings: string[] }> {
  const warnings: string[] = []
  const secrets: string[] = []
  const entries: [string, string][] = []
  for (const [name, value = ''] of Object.entries(env)) {
    if (!isReference(value)) {
      entries.push([name, value])
      continue
    }
    const secret = await resolveReference(value, name, options, warnings)
    secrets.push(secret)
    entries.push([name, secret])
  }
  return { env: Object.fromEntries(entries), secrets, warnings }
}

/** Extracts passwords from a database URL: a driver's message may contain the password without the URL. */
function extractPasswords(value: string): string[] {
  if (!/^\w+:\/\/\S+@/.test(value) || !URL.canParse(value)) return []
  const { password } = new URL(value)
  // Redacting a short password, such as the user name, would remove ordinary words from every log line.
  return password.length < 8 ? [] : [password, tryDecode(password)]
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
