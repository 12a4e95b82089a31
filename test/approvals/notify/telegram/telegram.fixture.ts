import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { ChannelOfType } from '../../../../src/approvals/notify/model.ts'

type Parameters = Record<string, unknown> & { chat_id?: number; text?: string }
export type Called = { readonly method: string; readonly given: Parameters }
/** Overrides the response; `silence` sends none. */
type Instead = (called: Called, response: ServerResponse) => object | 'usual' | 'silence'

const token = '123456:TEST-token_of-a-bot'
export const bot = '123456'

/**
 * Starts a local Bot API that stores updates until they are confirmed and accepts messages and
 * edits.
 */
export async function startTelegram() {
  const calls: Called[] = []
  const updates: { update_id: number }[] = []
  const messages = new Map<string, Parameters>()
  const waiting = new Set<() => void>()
  let instead: Instead = () => 'usual'
  let nextUpdate = 1000
  let nextMessage = 1

  /** Long poll: responds when an update arrives or the client disconnects. */
  async function poll(given: Parameters, response: ServerResponse) {
    const offset = Number(given['offset'] ?? 0)
    updates.splice(0, updates.filter((one) => one.update_id < offset).length)
    if (updates.length === 0)
      await new Promise<void>((resolve) => {
        waiting.add(resolve)
        response.on('close', () => {
          waiting.delete(resolve)
          resolve()
        })
      })
    return { ok: true, result: updates.slice(0, Number(given['limit'] ?? 100)) }
  }
  const wrong = (code: number, description: string) => ({
    ok: false,
    error_code: code,
    description,
  })
  async function answer({ method, given }: Called, response: ServerResponse): Promise<object> {
    const key = `${given.chat_id}:${String(given['message_id'])}`
    switch (method) {
      case 'getUpdates':
        return poll(given, response)
      case 'sendMessage': {
        const id = nextMessage++
        messages.set(`${given.chat_id}:${id}`, given)
        return { ok: true, result: { message_id: id, chat: { id: given.chat_id } } }
      }
      case 'editMessageText':
        if (messages.get(key)?.text === given.text)
          return wrong(400, 'Bad Request: message is not modified')
        messages.set(key, given)
        return { ok: true, result: { message_id: given['message_id'] } }
      case 'answerCallbackQuery':
        return { ok: true, result: true }
      default:
        return wrong(404, 'Not Found')
    }
  }

  const server = createServer((request, response) => {
    const [, given, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? []
    const take = async (body: string) => {
      const called = { method, given: JSON.parse(body) as Parameters }
      calls.push(called)
      const other = given === token ? instead(called, response) : wrong(401, 'Unauthorized')
      if (other === 'silence') return
      const reply = other === 'usual' ? await answer(called, response) : other
      const { error_code: code = 200 } = reply as { error_code?: number }
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
    }
    text(request).then(take, () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function update(content: object) {
    updates.push({ update_id: nextUpdate++, ...content })
    for (const wake of waiting) wake()
    waiting.clear()
  }
  let nextPress = 1
  return {
    calls,
    messages,
    update,
    /** The id of the next update. */
    nextUpdate: () => nextUpdate,
    answer: (next: Instead) => (instead = next),
    channel: (id: string): ChannelOfType<'telegram'> => ({ type: 'telegram', id, token, api }),
    write: (chat: number, reply: string, type = 'private', from = chat) =>
      update({
        message: { message_id: 1, chat: { id: chat, type }, from: { id: from }, text: reply },
      }),
    /** Presses a button; returns the id of the callback query. */
    press(chat: number, data: string, from = chat) {
      const id = `press-${nextPress++}`
      const message = { message_id: 1, chat: { id: chat, type: 'private' } }
      update({ callback_query: { id, from: { id: from }, message, data } })
      return id
    },
    sent: (method: string) =>
      calls.filter((one) => one.method === method).map(({ given }) => given),
    /** Returns the bot's reply to a press. */
    replyTo: (press: string) =>
      calls.find(
        ({ method, given }) =>
          method === 'answerCallbackQuery' && given['callback_query_id'] === press,
      )?.given.text,
    fails: wrong,
  }
}
