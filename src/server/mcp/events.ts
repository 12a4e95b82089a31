import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

type Event = {
  readonly id: number
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly size: number
}

const mostBytes = 256 * 1024

/**
 * The last messages of one session, so that a client of the older era whose stream broke can ask for what
 * it missed. Bounded: a client that stays away for longer than that has to call again.
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
      while (bytes > mostBytes && events.length > 1) bytes -= events.shift()?.size ?? 0
      return Promise.resolve(String(event.id))
    },
    getStreamIdForEventId: (id) => Promise.resolve(find(id)?.stream),
    async replayEventsAfter(lastEventId, { send }) {
      const last = find(lastEventId)
      if (!last) throw new Error('the event asked for is no longer kept')
      const missed = events.filter(({ id, stream }) => stream === last.stream && id > last.id)
      for (const { id, message } of missed)
        // A stream begins with an empty event: it only gives the client an id to come back with.
        if ('jsonrpc' in message) await send(String(id), message)
      return last.stream
    },
  }
}
