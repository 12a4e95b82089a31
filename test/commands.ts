import { PassThrough } from 'node:stream'
import type { Context } from '../src/cli/context.ts'
import type { Problem } from '../src/cli/exit.ts'
import { exitCode, toExitCode, toProblem } from '../src/cli/exit.ts'
import { createOutput } from '../src/cli/output.ts'
import { statePaths } from '../src/base/state.ts'

/** Output and exit code of a command with `--json`. */
export type Told = {
  readonly code: number
  readonly error?: Problem
  readonly [name: string]: unknown
}

/** Runs a command in this process, for tests that do not need a separate one. */
export async function runCommandWithState(
  state: string,
  command: (context: Context) => Promise<number | void>,
  env: Record<string, string> = {},
): Promise<Told> {
  const stdout = new PassThrough()
  const context: Context = {
    out: createOutput({ json: true, stdout, stderr: new PassThrough() }),
    paths: statePaths(state),
    env: { HOME: state, COWORK_STATE_DIR: state, ...env },
    inherited: {},
    envFileValues: {},
    configFile: undefined,
    locationArgs: [],
  }
  try {
    const code = (await command(context)) ?? exitCode.ok
    return { ...(JSON.parse(String(stdout.read())) as object), code }
  } catch (error) {
    return { code: toExitCode(error), error: toProblem(error) }
  }
}
