export type { Environment, Folders, Override } from './env.ts'
export {
  callerFromEnvironment,
  currentEnvironment,
  currentFolders,
  expandPath,
  fromEnvironment,
  mcpSettingsFile,
  stateDirectory,
} from './env.ts'
export { readEnvFiles } from './env-file.ts'
export type { ConfigProblem, LoadedConfig, LoadOptions } from './load.ts'
export { loadConfig } from './load.ts'
export type { Config } from './schema.ts'
export { configJsonSchema, configSchema } from './schema.ts'
export type { SecretOptions } from './secret-sources.ts'
export { resolveReference } from './secret-sources.ts'
export type { ResolvedSecrets, SecretValues } from './secrets.ts'
export { applySecrets, readSecrets, resolveEnvironment, resolveSecrets } from './secrets.ts'
