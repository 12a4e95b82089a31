import { Webhook } from 'standardwebhooks'
import type { Driver, Wait, WebhookChannel } from './model.ts'
import { addressOf, invalid, outcomeOf, post } from './post.ts'

/** Standard Webhooks asks for 24 to 64 bytes. */
const shortestKey = 24

/** Posts notices, signed by Standard Webhooks (A10). What the receiver answers is not read, only its status. */
export function createWebhook(channel: WebhookChannel, wait: Wait): Driver {
  const { address, authorization } = addressOf(channel.id, channel.url)
  const signer = signerOf(channel)

  return {
    reader: 'machine',
    async send({ id, notice, at }, signal) {
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1000)),
        'webhook-signature': signer.sign(id, new Date(at), notice),
        ...(authorization !== undefined && { authorization }),
      }
      const answer = await post({ address, headers, body: notice }, wait, signal)
      return 'kind' in answer ? answer : outcomeOf(answer, at)
    },
  }
}

function signerOf({ id, secret }: WebhookChannel): Webhook {
  const [, text = ''] = /^whsec_(.+?)=*$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length < shortestKey || key.toString('base64').replace(/=+$/, '') !== text)
    throw invalid(
      `The secret of the webhook "${id}" must be whsec_ and at least ${shortestKey} bytes in base64.`,
      'Make one with: echo "whsec_$(openssl rand -base64 32)"',
    )
  return new Webhook(key, { format: 'raw' })
}
