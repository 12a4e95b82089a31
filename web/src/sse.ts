export type SseEvent = { readonly event: string; readonly data: string; readonly id?: string }

/** Reads `text/event-stream` as it comes, in pieces cut anywhere. */
export function createSseParser(): (piece: string) => SseEvent[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  let id: string | undefined

  function line(text: string): SseEvent | undefined {
    if (text === '') {
      const whole =
        data.length > 0 ? { event: event || 'message', data: data.join('\n') } : undefined
      event = ''
      data = []
      return whole && { ...whole, ...(id !== undefined && { id }) }
    }
    const colon = text.indexOf(':')
    const field = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id') id = value
    return undefined
  }

  return (piece) => {
    rest += piece
    const found: SseEvent[] = []
    // A lone CR at the end may be half of a CRLF: it waits for the next piece.
    for (let end = /\r\n|\n|\r(?!$)/.exec(rest); end; end = /\r\n|\n|\r(?!$)/.exec(rest)) {
      const whole = line(rest.slice(0, end.index))
      rest = rest.slice(end.index + end[0].length)
      if (whole) found.push(whole)
    }
    return found
  }
}
