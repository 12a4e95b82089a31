import * as z from 'zod'
import {
  duration,
  httpUrl,
  trimmedName,
  port,
  secretText,
  nonEmptyString,
  timeOfDay,
} from '#base/config/field-types.ts'
import { approvalKinds } from './wire.ts'

const minuteMs = 60_000

/** As long as a person or an agent that asks now and then needs at least. */
const waitDuration = duration.refine((ms) => ms >= minuteMs, {
  error: 'must be at least a minute, or nobody has the time for it',
})

const approvals = z
  .strictObject({
    ttl: waitDuration
      .prefault('7d')
      .describe(
        'Time after which an undecided proposal or grant request expires, which is a refusal. Default 7d.',
      ),
    plan_ttl: duration
      .prefault('24h')
      .describe('Time after which an undecided plan or intercepted call expires. Default 24h.'),
    token_ttl: duration
      .prefault('10m')
      .describe('Life of the single-use token of an approved plan. Default 10m.'),
    call_ttl: waitDuration
      .prefault('1h')
      .describe(
        'Time in which an approved call may be claimed, once, by the agent that asked. Default 1h.',
      ),
    undo_hold: duration
      .prefault('8s')
      .describe(
        'Time a bulk or high-risk approval waits before it is released, so that it can be undone. Default 8s.',
      ),
    every_write: z
      .boolean()
      .default(false)
      .describe('Ask a person before every write, inside the workspace too. Default false.'),
  })
  .prefault({})
  .describe('Questions that wait for a person. Nothing is ever approved by time passing.')

const channelBase = { id: trimmedName.describe('Name of the channel, used by rules.') }

const sentBase = {
  ...channelBase,
  checkpoints: z
    .boolean()
    .optional()
    .describe(
      'Post the newest checkpoint of the ledger once a day, as a witness for `cowork audit verify --checkpoint`. Default false.',
    ),
}

/** As it goes between < and >. */
const mailAddress = nonEmptyString('a mail address', /^[!-;=?-~]+@[!-;=?-~]+$/)

const channel = z.discriminatedUnion('type', [
  z.strictObject({
    ...channelBase,
    type: z.literal('desktop').describe('Notification of this desktop.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('webhook').describe('Signed POST (Standard Webhooks).'),
    url: httpUrl.describe('Where to post.'),
    secret: secretText.describe('Signing secret, as whsec_ and base64.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('slack').describe('Slack incoming webhook; carries a link only.'),
    url: secretText.describe('Address of the incoming webhook.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('telegram').describe('Telegram bot; its buttons decide low risk only.'),
    token: secretText.describe('Token of the bot.'),
    api: httpUrl
      .default('https://api.telegram.org')
      .describe('Server of the Bot API. Default https://api.telegram.org.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('email').describe('Mail over SMTP; carries a link only.'),
    host: nonEmptyString('a host name', /^[\w.:-]+$/).describe('SMTP server.'),
    port: port.default(587).describe('SMTP port. Default 587.'),
    user: trimmedName.optional().describe('SMTP user.'),
    password: secretText.optional().describe('SMTP password.'),
    from: mailAddress.describe('Sender.'),
    to: z.array(mailAddress).min(1).describe('Receivers.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('ntfy').describe('ntfy topic; carries a link only.'),
    server: httpUrl.default('https://ntfy.sh').describe('Server. Default https://ntfy.sh.'),
    topic: secretText.describe('Topic; whoever knows it can read along.'),
    token: secretText.optional().describe('Access token.'),
  }),
])

export const notify = z
  .strictObject({
    channels: z.array(channel).default([]).describe('Ways to reach people besides the console.'),
    rules: z
      .array(
        z.strictObject({
          kinds: z
            .array(z.enum(approvalKinds))
            .optional()
            .describe('Kinds the rule is about. Default: all.'),
          risks: z
            .array(z.enum(['low', 'normal', 'high']))
            .optional()
            .describe('Risk classes the rule is about. Default: all.'),
          channels: z.array(trimmedName).min(1).describe('Channels told at once, by id.'),
          escalate_after: duration
            .optional()
            .describe(
              'Time without a decision after which `escalate_to` is told too. Default: never.',
            ),
          escalate_to: z
            .array(trimmedName)
            .default([])
            .describe('Channels told when nobody decided in time, by id.'),
        }),
      )
      .default([])
      .describe(
        'Who is told about what. The first rule that fits applies; with no rules every channel is told.',
      ),
    quiet_hours: z
      .strictObject({
        from: timeOfDay.describe('Start, local time.'),
        to: timeOfDay.describe('End, local time.'),
        except_high_risk: z
          .boolean()
          .default(true)
          .describe('High risk is told all the same. Default true.'),
      })
      .optional()
      .describe('Hours in which messages wait.'),
    digest: duration
      .optional()
      .describe('Gather low-risk messages and send them this often. Default: at once.'),
  })
  .prefault({})
  .describe('How people are told that something waits.')

export const approvalsConfig = { approvals, notify }
