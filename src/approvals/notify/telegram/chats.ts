import type { Clock } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { Actor } from '#base/entry.ts'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'
import type { Chat, ChatStore } from './store.ts'

const codeTtlMs = 10 * 60_000

export type Chats = ReturnType<typeof createChats>

/** Links chats to people with a code that only the person can create. */
export function createChats(channel: string, store: ChatStore, now: Clock) {
  const entry = (type: string, chat: string, person: string, actor: Actor, more: object = {}) => ({
    type,
    actor,
    subject: person,
    // A short hash distinguishes chats without storing their ids.
    data: { channel, chat: sha256Hex(chat).slice(0, 12), ...more },
  })

  return {
    async createCode(tx: Tx, person: string) {
      const code = randomHex(8)
      const expiresAt = now() + codeTtlMs
      await store.addCode(tx, { hash: sha256Hex(code), channel, person, expiresAt }, now())
      return { code, expiresAt }
    },
    async bind(tx: Tx, chat: string, code: string): Promise<string | undefined> {
      const person = await store.useCode(tx, sha256Hex(code), channel, now())
      if (person === undefined) return undefined
      await store.bind(tx, { channel, chat, person, boundAt: now() })
      tx.append(entry('chat.bound', chat, person, personActor(person)))
      return person
    },
    async unbind(tx: Tx, { chat, person }: Chat, by: Actor, why: string) {
      if (await store.unbind(tx, channel, chat))
        tx.append(entry('chat.unbound', chat, person, by, { why }))
    },
  }
}

/** Returns the actor of messages in a linked chat. */
export const personActor = (id: string): Actor => ({ kind: 'human', id, verified: true })
