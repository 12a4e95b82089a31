import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'

export type Chat = {
  readonly channel: string
  readonly chat: string
  readonly person: string
  readonly boundAt: number
}
/** What was told in a chat; without an approval where it was about many. */
export type ChatMessage = {
  readonly delivery: string
  readonly chat: string
  readonly channel: string
  readonly message: number
  readonly approval: string | null
  readonly sentAt: number
}

type MessageRow = Omit<ChatMessage, 'sentAt'> & { sent_at: number }
type Tables = {
  chat: { channel: string; chat: string; person: string; bound_at: number }
  chat_code: { hash: string; channel: string; person: string; expires_at: number }
  chat_message: MessageRow
  chat_place: { bot: string; next: number }
}

export type ChatStore = ReturnType<typeof createChatStore>

export function createChatStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const chats = sql.selectFrom('chat').selectAll()
  const codes = sql.deleteFrom('chat_code')
  const unbind = (channel: string, column: 'chat' | 'person', value: string) =>
    query(sql.deleteFrom('chat').where('channel', '=', channel).where(column, '=', value))

  return {
    async chats(reader: Reader, channel: string) {
      const found = chats.where('channel', '=', channel).orderBy('bound_at')
      return (await reader.all(query(found))).map(toChat)
    },
    async find(reader: Reader, channel: string, chat: string): Promise<Chat | undefined> {
      const found = chats.where('channel', '=', channel).where('chat', '=', chat)
      const row = await reader.first(query(found))
      return row && toChat(row)
    },
    /** One chat for a person and one person for a chat: a new one takes the place of the old. */
    async bind(tx: Tx, { channel, chat, person, boundAt }: Chat) {
      await tx.run(unbind(channel, 'chat', chat))
      await tx.run(unbind(channel, 'person', person))
      await tx.insert('chat', [{ channel, chat, person, bound_at: boundAt }])
    },
    unbind: async (tx: Tx, channel: string, chat: string) =>
      (await tx.run(unbind(channel, 'chat', chat))) > 0,
    /** A person who is gone has no chat, and no way to one. */
    async forgetPerson(tx: Tx, person: string) {
      await tx.run(query(sql.deleteFrom('chat').where('person', '=', person)))
      await tx.run(query(codes.where('person', '=', person)))
    },
    /** The newest of a person is the only one. */
    async addCode(
      tx: Tx,
      given: { hash: string; channel: string; person: string; expiresAt: number },
      now: number,
    ) {
      const { hash, channel, person, expiresAt } = given
      const old = codes.where((eb) =>
        eb.or([eb('expires_at', '<=', now), eb.and({ channel, person })]),
      )
      await tx.run(query(old))
      await tx.insert('chat_code', [{ hash, channel, person, expires_at: expiresAt }])
    },
    /** Whose code it is. It works once: of two that use it, one is told. */
    async useCode(tx: Tx, hash: string, channel: string, now: number) {
      const known = sql.selectFrom('chat_code').select('person').where('hash', '=', hash)
      const live = known.where('channel', '=', channel).where('expires_at', '>', now)
      const found = await tx.first(query(live))
      const isUsed = found && (await tx.run(query(codes.where('hash', '=', hash)))) > 0
      return isUsed ? found.person : undefined
    },
    addMessages: (tx: Tx, messages: readonly ChatMessage[]) =>
      tx.insert(
        'chat_message',
        messages.map(({ sentAt, ...one }) => ({ ...one, sent_at: sentAt })),
      ),
    async told(reader: Reader, deliveries: readonly string[]) {
      const found = sql.selectFrom('chat_message').select(['delivery', 'chat'])
      return reader.all(query(found.where('delivery', 'in', deliveries)))
    },
    /** Messages about an approval that can be marked as decided. */
    async open(reader: Reader, channel: string, approval: string) {
      const about = sql.selectFrom('chat_message').selectAll().where('approval', '=', approval)
      return (await reader.all(query(about.where('channel', '=', channel)))).map(toMessage)
    },
    /** Which of these have such messages, as channel and approval. */
    async withMessages(reader: Reader, approvals: readonly string[]) {
      if (approvals.length === 0) return []
      const found = sql.selectFrom('chat_message').select(['channel', 'approval']).distinct()
      return reader.all(query(found.where('approval', 'in', approvals)))
    },
    forgetMessage(tx: Tx, { delivery, chat }: ChatMessage) {
      const told = sql.deleteFrom('chat_message').where('delivery', '=', delivery)
      return tx.run(query(told.where('chat', '=', chat)))
    },
    forgetMessages: (tx: Tx, before: number) =>
      tx.run(query(sql.deleteFrom('chat_message').where('sent_at', '<', before))),
    async place(reader: Reader, bot: string) {
      const place = sql.selectFrom('chat_place').select('next').where('bot', '=', bot)
      return (await reader.first(query(place)))?.next
    },
    savePlace(tx: Tx, bot: string, next: number) {
      const place = sql.insertInto('chat_place').values({ bot, next })
      return tx.run(query(place.onConflict((c) => c.column('bot').doUpdateSet({ next }))))
    },
  }
}

const toChat = (row: Tables['chat']): Chat => ({
  channel: row.channel,
  chat: row.chat,
  person: row.person,
  boundAt: row.bound_at,
})

const toMessage = ({ sent_at: sentAt, ...row }: MessageRow): ChatMessage => ({ ...row, sentAt })
