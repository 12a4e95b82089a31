import { command, linesOption, flag, toolCommand } from './command.ts'
import type { CommandSpec } from './command.ts'
import { exitCode } from './exit.ts'
import { formatRows } from './output.ts'
import { resolvePrefix, shortenIds } from './lookup.ts'

export const notifyCommand: CommandSpec = {
  usage: 'notify',
  summary: 'manage notifications',
  commands: [
    // Lists sent and failed notifications (A10).
    toolCommand({
      usage: 'deliveries',
      summary: 'list sent and failed notifications',
      options: {
        dead: flag('--dead', 'show only notifications in the dead-letter queue'),
        lines: linesOption(100),
      },
      tool: 'cowork_list_deliveries',
      input: ({ options: { dead, lines } }) => ({
        limit: Math.min(lines, 1000),
        status: dead ? 'dead' : undefined,
      }),
      show({ deliveries }, { options: { dead } }) {
        const short = shortenIds(deliveries.map(({ id }) => id))
        return formatRows(deliveries, `No ${dead ? 'dead letters' : 'deliveries'}.`, {
          ID: ({ id }) => short(id),
          STATUS: (row) => row.status,
          CHANNEL: (row) => row.channel,
          EVENT: (row) => row.event,
          APPROVAL: (row) => row.approval_id,
          TRIES: (row) => row.attempts,
          NEXT: (row) => row.next_at ?? '–',
          ERROR: (row) => row.last_error ?? '',
        })
      },
    }),
    command({
      usage: 'retry <id>',
      summary: 'retry a notification of the dead-letter queue',
      async run({ client, args: [prefix] }) {
        const query = { status: 'dead', limit: 1000 }
        const { deliveries } = await client.call('cowork_list_deliveries', query)
        const ids = deliveries.map((row) => row.id)
        const id = resolvePrefix(prefix, ids, 'dead delivery')
        return { id, retried: await client.call('cowork_retry_delivery', { id }) }
      },
      json: ({ retried }) => retried,
      show: ({ id }) => `Retrying ${id}.`,
    }),
    // The exit code shows whether the channel accepted the notification (A10).
    toolCommand({
      usage: 'test <channel>',
      summary: 'send a test notification',
      person: 'Testing a channel',
      tool: 'cowork_test_channel',
      input: ({ args: [id] }) => ({ id }),
      show: ({ ok, reason }, { args: [channel] }) =>
        `${channel} ${ok ? 'accepted' : 'did not accept'} the test notification${reason === undefined ? '.' : `: ${reason}`}`,
      exit: ({ ok }) => (ok ? exitCode.ok : exitCode.failed),
    }),
    // The code binds the chat to the person who requests it (A5).
    toolCommand({
      usage: 'bind <channel>',
      summary: 'print a code that links a Telegram chat to you',
      person: 'Binding a chat',
      tool: 'cowork_bind_chat',
      input: ({ args: [channel] }) => ({ channel }),
      show: ({ how }) => how,
    }),
  ],
}
