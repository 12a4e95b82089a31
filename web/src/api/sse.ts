import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'

/** Returns a function that takes the next chunk of a `text/event-stream` and returns the events it completes. */
export function createSseParser(): (chunk: string) => EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  return (chunk) => {
    parser.feed(chunk)
    return events.splice(0)
  }
}
