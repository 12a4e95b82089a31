import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'

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

/** The only SQL about chats. */
export function createChatStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const chats = statement((p: { channel: string }) =>
    sql.selectFrom('chat').selectAll().where('channel', '=', p.channel).orderBy('bound_at'),
  )
  const one = statement((p: { channel: string; chat: string }) =>
    sql.selectFrom('chat').selectAll().where('channel', '=', p.channel).where('chat', '=', p.chat),
  )
  const unbind = statement((p: { channel: string; chat: string }) =>
    sql.deleteFrom('chat').where('channel', '=', p.channel).where('chat', '=', p.chat),
  )
  const unbindPerson = statement((p: { channel: string; person: string }) =>
    sql.deleteFrom('chat').where('channel', '=', p.channel).where('person', '=', p.person),
  )
  const dropPerson = statement((p: { person: string }) =>
    sql.deleteFrom('chat').where('person', '=', p.person),
  )
  const dropCodesOfPerson = statement((p: { person: string }) =>
    sql.deleteFrom('chat_code').where('person', '=', p.person),
  )
  const dropCodes = statement((p: { channel: string; person: string; now: number }) =>
    sql
      .deleteFrom('chat_code')
      .where((eb) =>
        eb.or([
          eb('expires_at', '<=', p.now),
          eb.and([eb('channel', '=', p.channel), eb('person', '=', p.person)]),
        ]),
      ),
  )
  const code = statement((p: { hash: string; channel: string; now: number }) =>
    sql
      .selectFrom('chat_code')
      .select('person')
      .where('hash', '=', p.hash)
      .where('channel', '=', p.channel)
      .where('expires_at', '>', p.now),
  )
  const useCode = statement((p: { hash: string }) =>
    sql.deleteFrom('chat_code').where('hash', '=', p.hash),
  )
  const open = statement((p: { channel: string; approval: string }) =>
    sql
      .selectFrom('chat_message')
      .selectAll()
      .where('approval', '=', p.approval)
      .where('channel', '=', p.channel),
  )
  const forget = statement((p: { delivery: string; chat: string }) =>
    sql.deleteFrom('chat_message').where('delivery', '=', p.delivery).where('chat', '=', p.chat),
  )
  const forgetBefore = statement((p: { before: number }) =>
    sql.deleteFrom('chat_message').where('sent_at', '<', p.before),
  )
  const place = statement((p: { bot: string }) =>
    sql.selectFrom('chat_place').select('next').where('bot', '=', p.bot),
  )
  const savePlace = statement((p: { bot: string; next: number }) =>
    sql
      .insertInto('chat_place')
      .values({ bot: p.bot, next: p.next })
      .onConflict((conflict) => conflict.column('bot').doUpdateSet({ next: p.next })),
  )

  return {
    chats: async (reader: Reader, channel: string) =>
      (await reader.all(chats({ channel }))).map(toChat),
    async find(reader: Reader, channel: string, chat: string): Promise<Chat | undefined> {
      const row = await reader.first(one({ channel, chat }))
      return row && toChat(row)
    },
    /** One chat for a person and one person for a chat: a new one takes the place of the old. */
    async bind(tx: Tx, { channel, chat, person, boundAt }: Chat) {
      await tx.run(unbind({ channel, chat }))
      await tx.run(unbindPerson({ channel, person }))
      await tx.insert('chat', [{ channel, chat, person, bound_at: boundAt }])
    },
    unbind: async (tx: Tx, channel: string, chat: string) =>
      (await tx.run(unbind({ channel, chat }))) > 0,
    /** A person who is gone has no chat, and no way to one. */
    async forgetPerson(tx: Tx, person: string) {
      await tx.run(dropPerson({ person }))
      await tx.run(dropCodesOfPerson({ person }))
    },
    /** The newest of a person is the only one. */
    async addCode(
      tx: Tx,
      given: { hash: string; channel: string; person: string; expiresAt: number },
      now: number,
    ) {
      const { hash, channel, person, expiresAt } = given
      await tx.run(dropCodes({ channel, person, now }))
      await tx.insert('chat_code', [{ hash, channel, person, expires_at: expiresAt }])
    },
    /** Whose code it is. It works once: of two that use it, one is told. */
    async useCode(tx: Tx, hash: string, channel: string, now: number) {
      const found = await tx.first(code({ hash, channel, now }))
      return found && (await tx.run(useCode({ hash }))) > 0 ? found.person : undefined
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
    open: async (reader: Reader, channel: string, approval: string) =>
      (await reader.all(open({ channel, approval }))).map(toMessage),
    /** Which of these have such messages, as channel and approval. */
    async withMessages(reader: Reader, approvals: readonly string[]) {
      if (approvals.length === 0) return []
      const found = sql.selectFrom('chat_message').select(['channel', 'approval']).distinct()
      return reader.all(query(found.where('approval', 'in', approvals)))
    },
    forgetMessage: (tx: Tx, { delivery, chat }: ChatMessage) => tx.run(forget({ delivery, chat })),
    forgetMessages: (tx: Tx, before: number) => tx.run(forgetBefore({ before })),
    place: async (reader: Reader, bot: string) => (await reader.first(place({ bot })))?.next,
    savePlace: (tx: Tx, bot: string, next: number) => tx.run(savePlace({ bot, next })),
  }
}

const toChat = (row: Tables['chat']): Chat => ({
  channel: row.channel,
  chat: row.chat,
  person: row.person,
  boundAt: row.bound_at,
})

const toMessage = ({ sent_at: sentAt, ...row }: MessageRow): ChatMessage => ({ ...row, sentAt })
