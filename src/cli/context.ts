import { resolve } from 'node:path'
import { readEnvFiles } from '#base/config/env-file.ts'
import { currentEnvironment, currentFolders, stateDirectory } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { statePaths } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import { commandName } from './launcher.ts'
import { createOutput } from './output.ts'
import type { Output } from './output.ts'

export type Globals = {
  readonly config?: string | undefined
  readonly state?: string | undefined
  readonly json?: boolean | undefined
  readonly envFile?: readonly string[] | undefined
}

export type Context = {
  readonly out: Output
  readonly paths: StatePaths
  readonly env: Environment
  /** `env` without the env files, for child processes: Node itself would act on some variables (K11). */
  readonly inherited: Environment
  /** Values of the env files, with unresolved references. */
  readonly envFileValues: Readonly<Record<string, string>>
  readonly configFile: string | undefined
  /** Options that make another `cowork` use the same state and configuration. */
  readonly locationArgs: readonly string[]
}

export function createContext({ config, state, json = false, envFile = [] }: Globals): Context {
  const fromFiles = readEnvFiles(envFile)
  const inherited = currentEnvironment()
  const combined = { ...inherited, ...fromFiles }
  const env = state === undefined ? combined : { ...combined, COWORK_STATE_DIR: state }
  const paths = statePaths(stateDirectory(env, currentFolders()))
  return {
    out: createOutput({ json, command: commandName(combined) }),
    paths,
    env,
    inherited,
    envFileValues: fromFiles,
    configFile: config,
    locationArgs: [
      '--state',
      paths.dir,
      ...(config === undefined ? [] : ['--config', resolve(config)]),
    ],
  }
}
