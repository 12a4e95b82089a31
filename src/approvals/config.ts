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

const waitDuration = duration.refine((ms) => ms >= minuteMs, {
  error: 'must be at least 1 minute, so that a person has time to decide',
})

const approvals = z
  .strictObject({
    ttl: waitDuration
      .prefault('7d')
      .describe(
        'Time after which an undecided proposal or access request expires and is rejected. Default 7d.',
      ),
    plan_ttl: duration
      .prefault('24h')
      .describe('Time after which an undecided plan or tool call expires. Default 24h.'),
    token_ttl: duration
      .prefault('10m')
      .describe('Lifetime of the single-use token of an approved plan. Default 10m.'),
    call_ttl: waitDuration
      .prefault('1h')
      .describe('Time in which an approved call can start. Default 1h.'),
    undo_hold: duration
      .prefault('8s')
      .describe('Undo window of a bulk or high-risk decision. Default 8s.'),
    every_write: z
      .boolean()
      .default(false)
      .describe(
        'Require approval for every write, including writes in the workspace. Default false.',
      ),
  })
  .prefault({})
  .describe('Approvals. A pending approval is never approved automatically.')

const channelBase = { id: trimmedName.describe('Channel name, used in rules.') }

const sentBase = {
  ...channelBase,
  checkpoints: z
    .boolean()
    .optional()
    .describe(
      'Post the latest ledger checkpoint once a day, for `cowork audit verify --checkpoint`. Default false.',
    ),
}

/** An address that is valid between < and > in SMTP commands. */
const mailAddress = nonEmptyString('an email address', /^[!-;=?-~]+@[!-;=?-~]+$/)

const channel = z.discriminatedUnion('type', [
  z.strictObject({
    ...channelBase,
    type: z.literal('desktop').describe('Desktop notification.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('webhook').describe('Signed POST (Standard Webhooks).'),
    url: httpUrl.describe('Target URL.'),
    secret: secretText.describe('Signing secret: whsec_ and base64.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z
      .literal('slack')
      .describe('Slack incoming webhook; messages contain a link, no content.'),
    url: secretText.describe('URL of the incoming webhook.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z
      .literal('telegram')
      .describe('Telegram bot; its buttons decide low-risk approvals only.'),
    token: secretText.describe('Bot token.'),
    api: httpUrl
      .default('https://api.telegram.org')
      .describe('Bot API server. Default https://api.telegram.org.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('email').describe('Email over SMTP; messages contain a link, no content.'),
    host: nonEmptyString('a host name', /^[\w.:-]+$/).describe('SMTP server.'),
    port: port.default(587).describe('SMTP port. Default 587.'),
    user: trimmedName.optional().describe('SMTP user.'),
    password: secretText.optional().describe('SMTP password.'),
    from: mailAddress.describe('Sender address.'),
    to: z.array(mailAddress).min(1).describe('Recipient addresses.'),
  }),
  z.strictObject({
    ...sentBase,
    type: z.literal('ntfy').describe('ntfy topic; messages contain a link, no content.'),
    server: httpUrl.default('https://ntfy.sh').describe('Server. Default https://ntfy.sh.'),
    topic: secretText.describe('Topic. Anyone who knows it can read the notifications.'),
    token: secretText.optional().describe('Access token.'),
  }),
])

export const notify = z
  .strictObject({
    channels: z.array(channel).default([]).describe('Notification channels besides the console.'),
    rules: z
      .array(
        z.strictObject({
          kinds: z
            .array(z.enum(approvalKinds))
            .optional()
            .describe('Approval kinds that the rule matches. Default: all.'),
          risks: z
            .array(z.enum(['low', 'normal', 'high']))
            .optional()
            .describe('Risk classes that the rule matches. Default: all.'),
          channels: z.array(trimmedName).min(1).describe('Channels notified immediately, by id.'),
          escalate_after: duration
            .optional()
            .describe(
              'Time without a decision after which `escalate_to` is notified. Default: never.',
            ),
          escalate_to: z
            .array(trimmedName)
            .default([])
            .describe('Channels notified when a decision is overdue, by id.'),
        }),
      )
      .default([])
      .describe(
        'Routing rules. The first matching rule applies; without rules, every channel is notified.',
      ),
    quiet_hours: z
      .strictObject({
        from: timeOfDay.describe('Start, local time.'),
        to: timeOfDay.describe('End, local time.'),
        except_high_risk: z
          .boolean()
          .default(true)
          .describe('Send high-risk notifications during quiet hours. Default true.'),
      })
      .optional()
      .describe('Hours in which notifications are delayed.'),
    digest: duration
      .optional()
      .describe(
        'Collect low-risk notifications and send them at this interval. Default: send immediately.',
      ),
  })
  .prefault({})
  .describe('Notifications about pending approvals.')

export const approvalsConfig = { approvals, notify }
