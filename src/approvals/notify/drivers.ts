import { createEmail } from './email.ts'
import type { Channel, Driver } from './model.ts'
import { createNtfy } from './ntfy.ts'
import { createSlack } from './slack.ts'
import { createTelegram } from './telegram/channel.ts'
import type { TelegramBot, TelegramDeps } from './telegram/channel.ts'
import { createWebhook } from './webhook.ts'

/**
 * Creates the driver of each channel, by channel id. The console shows desktop notifications
 * itself. Bots also receive messages.
 */
export function createDrivers(
  channels: readonly Channel[],
  deps: TelegramDeps,
): { drivers: Map<string, Driver>; bots: Map<string, TelegramBot> } {
  const { sleep } = deps
  const drivers = new Map<string, Driver>()
  const bots = new Map<string, TelegramBot>()
  for (const channel of channels)
    switch (channel.type) {
      case 'desktop':
        break
      case 'webhook':
        drivers.set(channel.id, createWebhook(channel, sleep))
        break
      case 'slack':
        drivers.set(channel.id, createSlack(channel, sleep))
        break
      case 'ntfy':
        drivers.set(channel.id, createNtfy(channel, sleep))
        break
      case 'email':
        drivers.set(channel.id, createEmail(channel, sleep))
        break
      case 'telegram': {
        const bot = createTelegram(channel, deps)
        bots.set(channel.id, bot)
        drivers.set(channel.id, bot.driver)
      }
    }
  return { drivers, bots }
}
