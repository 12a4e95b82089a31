import { Webhook } from 'standardwebhooks'
import type { Driver, Sleep, WebhookChannel } from './model.ts'
import { parseAddress, channelConfigError, toSendOutcome, post } from './http-post.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
const shortestKey = 24

/** Posts notices, signed by Standard Webhooks (A10). What the receiver answers is not read, only its status. */
export function createWebhook(channel: WebhookChannel, wait: Sleep): Driver {
  const { address, authorization } = parseAddress(channel.id, channel.url)
  const signer = signerOf(channel)

  return {
    audience: 'machine',
    async send({ id, notice, at }, signal) {
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1000)),
        'webhook-signature': signer.sign(id, new Date(at), notice),
        ...(authorization !== undefined && { authorization }),
      }
      const answer = await post({ address, headers, body: notice }, wait, signal)
      return 'kind' in answer ? answer : toSendOutcome(answer, at)
    },
  }
}

function signerOf({ id, secret }: WebhookChannel): Webhook {
  const [, text = ''] = /^whsec_(.+?)=*$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length < shortestKey || key.toString('base64').replace(/=+$/, '') !== text)
    throw channelConfigError(
      `The secret of the webhook "${id}" must be whsec_ and at least ${shortestKey} bytes in base64.`,
      'Make one with: echo "whsec_$(openssl rand -base64 32)"',
    )
  return new Webhook(key, { format: 'raw' })
}
