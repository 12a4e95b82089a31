import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'

export type Chat = {
  readonly channel: string
  readonly chat: string
  readonly person: string
  readonly boundAt: number
}
/** A message in a chat; `approval` is null if it covers several approvals. */
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
    async listChats(reader: Reader, channel: string) {
      const found = chats.where('channel', '=', channel).orderBy('bound_at')
      return (await reader.all(query(found))).map(toChat)
    },
    async find(reader: Reader, channel: string, chat: string): Promise<Chat | undefined> {
      const found = chats.where('channel', '=', channel).where('chat', '=', chat)
      const row = await reader.first(query(found))
      return row && toChat(row)
    },
    /** A person has one chat per channel and a chat one person; a new link replaces old ones. */
    async bind(tx: Tx, { channel, chat, person, boundAt }: Chat) {
      await tx.run(unbind(channel, 'chat', chat))
      await tx.run(unbind(channel, 'person', person))
      await tx.insert('chat', [{ channel, chat, person, bound_at: boundAt }])
    },
    unbind: async (tx: Tx, channel: string, chat: string) =>
      (await tx.run(unbind(channel, 'chat', chat))) > 0,
    /** Deletes the chats and codes of a removed person. */
    async deletePerson(tx: Tx, person: string) {
      await tx.run(query(sql.deleteFrom('chat').where('person', '=', person)))
      await tx.run(query(codes.where('person', '=', person)))
    },
    /** A new code replaces the person's earlier code. */
    async addCode(
      tx: Tx,
      newCode: { hash: string; channel: string; person: string; expiresAt: number },
      now: number,
    ) {
      const { hash, channel, person, expiresAt } = newCode
      const old = codes.where((eb) =>
        eb.or([eb('expires_at', '<=', now), eb.and({ channel, person })]),
      )
      await tx.run(query(old))
      await tx.insert('chat_code', [{ hash, channel, person, expires_at: expiresAt }])
    },
    /** Consumes a code and returns its person; of two concurrent uses, one succeeds. */
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
    async listSent(reader: Reader, deliveries: readonly string[]) {
      const found = sql.selectFrom('chat_message').select(['delivery', 'chat'])
      return reader.all(query(found.where('delivery', 'in', deliveries)))
    },
    /** Lists the messages about an approval that can be edited. */
    async listMessages(reader: Reader, channel: string, approval: string) {
      const about = sql.selectFrom('chat_message').selectAll().where('approval', '=', approval)
      return (await reader.all(query(about.where('channel', '=', channel)))).map(toMessage)
    },
    /** Lists the channels that have such messages, with the approval. */
    async listChannelsWithMessages(reader: Reader, approvals: readonly string[]) {
      if (approvals.length === 0) return []
      const found = sql.selectFrom('chat_message').select(['channel', 'approval']).distinct()
      return reader.all(query(found.where('approval', 'in', approvals)))
    },
    deleteMessage(tx: Tx, { delivery, chat }: ChatMessage) {
      const message = sql.deleteFrom('chat_message').where('delivery', '=', delivery)
      return tx.run(query(message.where('chat', '=', chat)))
    },
    deleteMessagesBefore: (tx: Tx, before: number) =>
      tx.run(query(sql.deleteFrom('chat_message').where('sent_at', '<', before))),
    async findOffset(reader: Reader, bot: string) {
      const place = sql.selectFrom('chat_place').select('next').where('bot', '=', bot)
      return (await reader.first(query(place)))?.next
    },
    saveOffset(tx: Tx, bot: string, next: number) {
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
