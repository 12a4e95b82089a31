import { localCommand, text } from '../command.ts'
import type { CommandSpec } from '../command.ts'
import { boardCommand } from './board/board.ts'
import { addCommands, projectCommands, resolveCommand, storyCommands } from './mutations.ts'
import { listingCommands, projectsCommand, readingCommands, statusCommand } from './history.ts'
import { setCommand } from './set-fields.ts'

export const workCommand: CommandSpec = {
  ...statusCommand,
  usage: 'work',
  summary: 'manage sprints, stories and backlog',
  options: {
    project: text(
      '-p, --project <name>',
      'project (default: the only one, or the one of this folder)',
    ),
  },
  help: 'Without a command it shows the work status.',
  commands: [
    statusCommand,
    boardCommand,
    ...listingCommands,
    ...readingCommands,
    ...addCommands,
    setCommand,
    ...storyCommands,
    resolveCommand,
    projectsCommand,
    ...projectCommands,
    localCommand({
      usage: 'verify',
      summary: 'test every work tool on a temporary project',
      options: { agent: text('--agent <name>', 'use the stored token of this agent') },
      act: async (call) => (await import('./verify.ts')).verifyWork(call, call.options),
    }),
  ],
}
