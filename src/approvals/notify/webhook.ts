import { Webhook } from 'standardwebhooks'
import type { Driver, Sleep, WebhookChannel } from './model.ts'
import { parseAddress, channelConfigError, toSendOutcome, post } from './http-post.ts'

/** Standard Webhooks requires 24 to 64 bytes. */
const minKeyBytes = 24

/**
 * Posts notifications signed according to Standard Webhooks (A10). Of the response, only the
 * status is read.
 */
export function createWebhook(channel: WebhookChannel, wait: Sleep): Driver {
  const { address, authorization } = parseAddress(channel.id, channel.url)
  const signer = createSigner(channel)

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

function createSigner({ id, secret }: WebhookChannel): Webhook {
  const [, text = ''] = /^whsec_(.+?)=*$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length < minKeyBytes || key.toString('base64').replace(/=+$/, '') !== text)
    throw channelConfigError(
      `notify.channels: the secret of "${id}" must be whsec_ and at least ${minKeyBytes} bytes in base64.`,
      'Create a secret with: echo "whsec_$(openssl rand -base64 32)"',
    )
  return new Webhook(key, { format: 'raw' })
}
