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
  /** The same without the env files, for other processes of ours: Node would obey what they say (K11). */
  readonly inherited: Environment
  /** What the env files say, references as they are written. */
  readonly fromFiles: Readonly<Record<string, string>>
  readonly configFile: string | undefined
  /** The options that make another `cowork` work on the same place. */
  readonly locationArgs: readonly string[]
}

export function createContext({ config, state, json = false, envFile = [] }: Globals): Context {
  const fromFiles = readEnvFiles(envFile)
  const inherited = currentEnvironment()
  const given = { ...inherited, ...fromFiles }
  const env = state === undefined ? given : { ...given, COWORK_STATE_DIR: state }
  const paths = statePaths(stateDirectory(env, currentFolders()))
  return {
    out: createOutput({ json, command: commandName(given) }),
    paths,
    env,
    inherited,
    fromFiles,
    configFile: config,
    locationArgs: [
      '--state',
      paths.dir,
      ...(config === undefined ? [] : ['--config', resolve(config)]),
    ],
  }
}
