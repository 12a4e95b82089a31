import type { TestApp } from './app.ts'

export type Heard = { readonly id: number; readonly event: string; readonly data: unknown }

export type Listener = {
  readonly status: number
  readonly heard: Heard[]
  /** Numbers of the entries heard so far. */
  seqs(): number[]
  /** Resolves when so many entries were heard, or none come any more. */
  until(count: number): Promise<number[]>
  /** Resolves when the server ends the stream or the connection breaks. */
  readonly ended: Promise<void>
  close(): void
}

export type ListenOptions = {
  readonly query?: string
  readonly token?: string
  readonly lastEventId?: number | string
}

/** Reads the live stream as the console does: fetch with the bearer, frames as they come. */
export async function listen(
  app: Pick<TestApp, 'url' | 'owner'>,
  { query = '', token = app.owner, lastEventId }: ListenOptions = {},
): Promise<Listener> {
  const stop = new AbortController()
  const reply = await fetch(`${app.url}/api/events${query}`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
    },
    signal: stop.signal,
  })
  const heard: Heard[] = []
  let wake: (() => void)[] = []
  let isOver = false
  const tell = () => {
    for (const resolve of wake.splice(0)) resolve()
  }
  const read = async () => {
    let rest = ''
    for await (const text of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const frames = (rest + text).split('\n\n')
      rest = frames.pop() ?? ''
      heard.push(...frames.filter((frame) => frame.includes('event: ')).map(parsed))
      tell()
    }
  }
  const ended = (reply.ok ? read() : reply.text().then(() => undefined))
    .catch(() => undefined)
    .finally(() => {
      isOver = true
      tell()
    })
  const seqs = () => heard.filter(({ event }) => event === 'entry').map(({ id }) => id)
  return {
    status: reply.status,
    heard,
    seqs,
    async until(count) {
      while (seqs().length < count && !isOver)
        await new Promise<void>((resolve) => (wake = [...wake, resolve]))
      return seqs()
    },
    ended,
    close: () => stop.abort(),
  }
}

function parsed(frame: string): Heard {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? ''
  return {
    id: Number(field('id')),
    event: field('event'),
    data: JSON.parse(field('data')) as unknown,
  }
}
