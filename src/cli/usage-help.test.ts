import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram, loadCommands } from './program.ts'

const entries = await loadCommands()

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]

/** What a command line says on both streams. */
async function said(args: string[]): Promise<string> {
  let text = ''
  const write = (more: string) => void (text += more)
  const program = createProgram(async () => {
    throw new Error('it was carried out')
  }, entries)
  for (const one of all(program))
    one.configureOutput({ writeOut: write, writeErr: write, getOutHelpWidth: () => 80 })
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'exitCode' in error)) throw error
  })
  return text
}

const commands = all(createProgram(async () => {}, entries))
  .slice(1)
  .map((command): string[] => wordsOf(command))

function wordsOf(command: Command): string[] {
  return command.parent ? [...wordsOf(command.parent), command.name()] : []
}

test.each(commands.map((words) => ({ words, name: words.join(' ') })))(
  'K2 the help of $name fits 80 columns and tells of --json',
  async ({ words }) => {
    const help = await said([...words, '--help'])
    expect(help).toMatch(/^ {2}--json /m)
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)

test('K3 a fault in the usage of a command leads to its own help', async () => {
  expect(await said(['frob'])).toMatch(/unknown command 'frob'\n`cowork --help` lists/)
  expect(await said(['grants', 'add'])).toContain('`cowork grants add --help`')
  expect(await said(['trash', 'purge', '--frob'])).toContain('`cowork trash purge --help`')
})

test.each(['grants', 'trash', 'files', 'workspace'])(
  'K3 %s with an unknown command lists those there are',
  async (group) => {
    const text = await said([group, 'frob'])
    expect(text).toMatch(/^error: unknown command 'frob'$/m)
    expect(text).toMatch(/^Its commands: \w+(,\s\w+)+\.\s`cowork \w+ --help` tells more\.$/m)
  },
)

test.each(commands.filter(([, more]) => more === undefined).flat())(
  'K3 what is said of a fault in the usage of %s fits 80 columns',
  async (name) => {
    const text = await said([name, '--frob'])
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  },
)
