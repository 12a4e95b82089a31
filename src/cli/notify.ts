import { command, linesOption, flag, toolCommand } from './command.ts'
import type { Entry } from './command.ts'
import { exitCode } from './exit.ts'
import { tableOf } from './output.ts'
import { resolvePrefix, shortenIds } from './lookup.ts'

export const notifyCommand: Entry = {
  usage: 'notify',
  summary: 'what is told to other channels',
  commands: [
    // What was told outside, and what could not be (A10).
    toolCommand({
      usage: 'deliveries',
      summary: 'what was sent, and what could not be',
      options: { dead: flag('--dead', 'only what failed for good'), lines: linesOption(100) },
      tool: 'cowork_list_deliveries',
      input: ({ options: { dead, lines } }) => ({
        limit: Math.min(lines, 1000),
        status: dead ? 'dead' : undefined,
      }),
      show({ deliveries }, { options: { dead } }) {
        const short = shortenIds(deliveries.map(({ id }) => id))
        return tableOf(deliveries, `Nothing ${dead ? 'failed for good' : 'was sent'}.`, {
          ID: ({ id }) => short(id),
          STATUS: (one) => one.status,
          CHANNEL: (one) => one.channel,
          EVENT: (one) => one.event,
          APPROVAL: (one) => one.approval_id,
          TRIES: (one) => one.attempts,
          NEXT: (one) => one.next_at ?? '–',
          ERROR: (one) => one.last_error ?? '',
        })
      },
    }),
    command({
      usage: 'retry <id>',
      summary: 'send again what failed for good',
      async run({ client, args: [given] }) {
        const asked = { status: 'dead', limit: 1000 }
        const { deliveries } = await client.call('cowork_list_deliveries', asked)
        const ids = deliveries.map((one) => one.id)
        const id = resolvePrefix(given, ids, 'dead delivery')
        return { id, retried: await client.call('cowork_retry_delivery', { id }) }
      },
      json: ({ retried }) => retried,
      show: ({ id }) => `${id} is sent again now.`,
    }),
    // The exit code says whether the notice was taken (A10).
    toolCommand({
      usage: 'test <channel>',
      summary: 'send a test notice now',
      person: 'Testing a channel',
      tool: 'cowork_test_channel',
      input: ({ args: [id] }) => ({ id }),
      show: ({ ok, reason }, { args: [channel] }) =>
        `${channel} ${ok ? 'took' : 'did not take'} a test notice${reason === undefined ? '.' : `: ${reason}`}`,
      exit: ({ ok }) => (ok ? exitCode.ok : exitCode.failed),
    }),
    // The code binds the chat to the person who asks for it (A5).
    toolCommand({
      usage: 'bind <channel>',
      summary: 'a code that binds a Telegram chat to you',
      person: 'Binding a chat',
      tool: 'cowork_bind_chat',
      input: ({ args: [channel] }) => ({ channel }),
      show: ({ how }) => how,
    }),
  ],
}
