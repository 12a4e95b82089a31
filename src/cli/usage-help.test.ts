import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram, loadCommands } from './program.ts'

const entries = await loadCommands()

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]

/** Returns the output of a command line on both streams. */
async function readOutput(args: string[]): Promise<string> {
  let text = ''
  const write = (chunk: string) => void (text += chunk)
  const program = createProgram(async () => {
    throw new Error('the command ran')
  }, entries)
  for (const command of all(program))
    command.configureOutput({ writeOut: write, writeErr: write, getOutHelpWidth: () => 80 })
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'exitCode' in error)) throw error
  })
  return text
}

const commands = all(createProgram(async () => {}, entries))
  .slice(1)
  .map((command): string[] => commandPath(command))

function commandPath(command: Command): string[] {
  return command.parent ? [...commandPath(command.parent), command.name()] : []
}

test.each(commands.map((words) => ({ words, name: words.join(' ') })))(
  'K2 the help of $name fits 80 columns and lists --json',
  async ({ words }) => {
    const help = await readOutput([...words, '--help'])
    expect(help).toMatch(/^ {2}--json /m)
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

test('K3 a usage error names the help of the command', async () => {
  expect(await readOutput(['frob'])).toMatch(/unknown command 'frob'\nRun `cowork --help` for/)
  expect(await readOutput(['grants', 'add'])).toContain('`cowork grants add --help`')
  expect(await readOutput(['trash', 'purge', '--frob'])).toContain('`cowork trash purge --help`')
})

test.each(['grants', 'trash', 'files', 'workspace'])(
  'K3 %s with an unknown command lists its commands',
  async (group) => {
    const text = await readOutput([group, 'frob'])
    expect(text).toMatch(/^error: unknown command 'frob'$/m)
    expect(text).toMatch(/^Commands: \w+(,\s\w+)+\.\sRun\s`cowork \w+ --help`\sfor\sdetails\.$/m)
  },
)

test.each(commands.filter(([, subcommand]) => subcommand === undefined).flat())(
  'K3 a usage error of %s fits 80 columns',
  async (name) => {
    const text = await readOutput([name, '--frob'])
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)
