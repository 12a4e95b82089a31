import { PassThrough } from 'node:stream'
import type { Context } from '../src/cli/context.ts'
import type { Problem } from '../src/cli/exit.ts'
import { exitCode, toExitCode, toProblem } from '../src/cli/exit.ts'
import { createOutput } from '../src/cli/output.ts'
import { statePaths } from '../src/base/state.ts'

/** What a command with `--json` says and ends with. */
export type Told = {
  readonly code: number
  readonly error?: Problem
  readonly [name: string]: unknown
}

/** A command in this process, where the start of another one is not what is tested. */
export async function runIn(
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
