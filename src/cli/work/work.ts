import { localCommand, text } from '../command.ts'
import type { Entry } from '../command.ts'
import { boardCommand } from './board/board.ts'
import { addingCommands, keepingCommands, resolveCommand, storyCommands } from './mutations.ts'
import { listingCommands, projectsCommand, readingCommands, statusCommand } from './history.ts'
import { setCommand } from './set-fields.ts'

export const workCommand: Entry = {
  ...statusCommand,
  usage: 'work',
  summary: 'sprints, stories and backlog',
  options: {
    project: text(
      '-p, --project <name>',
      'which project; else the only one, or that of this folder',
    ),
  },
  help: 'Alone it says where the work stands.',
  commands: [
    statusCommand,
    boardCommand,
    ...listingCommands,
    ...readingCommands,
    ...addingCommands,
    setCommand,
    ...storyCommands,
    resolveCommand,
    projectsCommand,
    ...keepingCommands,
    localCommand({
      usage: 'verify',
      summary: 'try every tool on a project made for it',
      options: { agent: text('--agent <name>', 'act with the token kept for this agent') },
      act: async (call) => (await import('./verify.ts')).verifyWork(call, call.options),
    }),
  ],
}
