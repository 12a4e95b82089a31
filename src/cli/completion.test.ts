import { Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { completionScript } from './completion.ts'

function program(): Command {
  const root = new Command('cowork').option('--state <folder>', "the state's folder")
  root
    .command('audit')
    .description('read: check')
    .command('tail')
    .addOption(new Option('-n, --lines <count>', 'how many'))
  const connect = root.command('connect').argument('[client]').option('--http', 'over HTTP')
  Object.assign(connect.registeredArguments[0] ?? {}, { argChoices: ['codex', 'cursor'] })
  root.command('reject').addOption(new Option('--type <type>').choices(['edge_case', 'wrong']))
  root.command('secret', { hidden: true })
  return root
}

test.each(['bash', 'zsh', 'fish'] as const)(
  'K1 the %s script completes commands, options and choices, but nothing hidden',
  (shell) => {
    const script = completionScript(program(), shell)
    expect(script).toContain(`' audit tail'`.replaceAll("'", shell === 'fish' ? '' : "'"))
    for (const word of ['codex', 'cursor', 'lines', 'http']) expect(script).toContain(word)
    expect(script).not.toContain('secret')
  },
)

test('K1 escapes quotes and colons in descriptions', () => {
  expect(completionScript(program(), 'zsh')).toContain(String.raw`'--state:the state'\''s folder'`)
  expect(completionScript(program(), 'fish')).toContain(String.raw`-l state -r -d 'the state'\''s`)
})

test.each([
  ['bash', `' reject --type') COMPREPLY=($(compgen -W 'edge_case wrong' -- "$cur"))`],
  ['zsh', `(' reject --type') compadd edge_case wrong`],
  ['fish', `-l type -x -a 'edge_case wrong'`],
] as const)('K1 the %s script completes the values of an option', (shell, line) => {
  expect(completionScript(program(), shell)).toContain(line)
})
