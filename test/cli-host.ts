// Runs commands of `cowork` one after another in one process: loading the sources takes most of the time of a command.
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { run } from '../src/cli/program.ts'

export type HostedCommand = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly input: string
}
type HostedResult = {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function runCommand({ args, env, cwd, input }: HostedCommand): Promise<HostedResult> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  for (const [name, value] of Object.entries(env))
    if (value !== undefined) process.env[name] = value
  process.chdir(cwd)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout, stderr }
  for (const [name, stream] of Object.entries(streams))
    Object.defineProperty(process, name, { value: stream, configurable: true })
  const printed = Promise.all([text(stdout), text(stderr)])
  const code = await run(args)
  stdout.end()
  stderr.end()
  const [out, err] = await printed
  return { code, stdout: out, stderr: err }
}

process.on('message', (command: HostedCommand) => {
  runCommand(command).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ code: 1, stdout: '', stderr: String(error) }),
  )
})
// Without the parent, no result can be read.
process.on('disconnect', () => process.exit())
