import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { contextOf } from './context.ts'
import type { Context } from './context.ts'
import { exitCode, exitCodeOf } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { createOutput } from './output.ts'
import { version } from './version.ts'

type Verb = (context: Context) => Promise<ExitCode | void>

/** Runs one command line. Each command's code is loaded only when it is used. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok
  const program = createProgram((command, verb) => async () => {
    code = (await verb(contextOf(command.optsWithGlobals()))) ?? exitCode.ok
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // Commander has said what was wrong by then.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage
    const { stdout, stderr } = process
    createOutput({ json: program.opts()['json'] === true, stdout, stderr }).problem(error)
    return exitCodeOf(error)
  }
}
