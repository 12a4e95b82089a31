import { CoworkError } from '#base/errors.ts'
import { toolCommand } from './command.ts'
import { flag, text } from './option-kinds.ts'
import { shown } from './output.ts'
import { byPrefix } from './prefix.ts'

export const haltCommands = [
  toolCommand({
    usage: 'halt [scope]',
    summary: 'refuse new calls of agents',
    options: {
      reason: text('--reason <text>', 'why, for the people and agents who ask'),
      force: flag('--force', 'halt a name that is not known yet'),
    },
    help: 'A scope is all (default), agent:<id>, domain:<name> or server:<name>.',
    tool: 'cowork_halt',
    input: ({ args: [scope = 'all'], options: { reason = '', force = false } }) => ({
      scope,
      reason,
      force,
    }),
    show: ({ scope }) => [
      `Halted: ${shown(scope)}. Resume with: cowork resume ${shellWord(scope)}`,
    ],
  }),
  toolCommand({
    usage: 'resume [scope]',
    summary: 'lift a halt',
    tool: 'cowork_resume',
    async input({ client, args: [given = 'all'] }) {
      const { halts } = await client.call('cowork_status')
      if (halts.length === 0) throw new CoworkError('not_found', 'Nothing is halted.')
      const scopes = halts.map(({ scope }) => scope)
      return { scope: byPrefix(given, scopes, 'halt') }
    },
    show: ({ scope }) => [`Resumed: ${shown(scope)}.`],
  }),
]

/** One word for a POSIX shell, so that the printed command works as it is. */
const shellWord = (word: string): string =>
  /^[\w:.@/-]+$/.test(word) ? word : `'${shown(word).replaceAll("'", String.raw`'\''`)}'`
