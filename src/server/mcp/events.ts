import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

type Event = {
  readonly id: number
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly size: number
}

const maxBytes = 256 * 1024

/**
 * Stores the last messages of a session, so a legacy client can resume a broken stream. The store
 * is bounded: after a longer absence the client must repeat its calls.
 */
export function createEventStore(): EventStore {
  const events: Event[] = []
  let next = 0
  let bytes = 0

  const find = (id: string) => events.find((event) => String(event.id) === id)
  return {
    storeEvent(stream, message) {
      const event = { id: next++, stream, message, size: JSON.stringify(message).length }
      events.push(event)
      bytes += event.size
      while (bytes > maxBytes && events.length > 1) bytes -= events.shift()?.size ?? 0
      return Promise.resolve(String(event.id))
    },
    getStreamIdForEventId: (id) => Promise.resolve(find(id)?.stream),
    async replayEventsAfter(lastEventId, { send }) {
      const last = find(lastEventId)
      if (!last) throw new Error('the requested event is no longer stored')
      const missed = events.filter(({ id, stream }) => stream === last.stream && id > last.id)
      for (const { id, message } of missed)
        // The first event of a stream is empty: it only provides an id for resuming.
        if ('jsonrpc' in message) await send(String(id), message)
      return last.stream
    },
  }
}
