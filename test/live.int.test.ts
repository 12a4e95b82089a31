import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { listen } from './events.ts'

let app: TestApp
beforeAll(async () => (app = await startTestApp()))
afterAll(() => app.close())

const asOwner = () => ({ authorization: `Bearer ${app.owner}` })

async function size(): Promise<number> {
  const reply = await fetch(`${app.url}/api/ledger?limit=0`, { headers: asOwner() })
  return ((await reply.json()) as { size: number }).size
}

/** Each leaves one entry, soon after its answer; resolves when they are there. */
async function act(times: number): Promise<number> {
  const before = await size()
  // Fewer at once than one caller may have under way.
  for (let left = times; left > 0; left -= 50)
    await Promise.all(Array.from({ length: Math.min(left, 50) }, () => app.call('cowork_status')))
  await expect.poll(size).toBe(before + times)
  return before
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

async function addAgent(id: string): Promise<string> {
  const reply = await app.call('cowork_add_agent', { id })
  return ((await reply.json()) as { output: { token: string } }).output.token
}

describe('the stream', () => {
  test('SV23 C10 a listener receives the size, then each entry as hashed', async () => {
    const listener = await listen(app)
    const before = await act(3)
    expect(await listener.until(3)).toEqual(numbers(before + 1, 3))
    expect(listener.heard[0]).toEqual({ id: before, event: 'hello', data: { size: before } })
    const { data } = listener.heard[1] ?? {}
    const proof = await fetch(`${app.url}/api/ledger/${before + 1}/proof`, { headers: asOwner() })
    expect(JSON.stringify(data)).toBe(((await proof.json()) as { entry: string }).entry)
    listener.close()
  })

  test('L11 a listener resumes after its last entry, from the buffer or the store', async () => {
    const before = await act(5)
    const witness = await listen(app)
    await act(5)
    await witness.until(5)
    for (const options of [
      { lastEventId: before },
      { query: `?after=${before}` },
      { lastEventId: before, query: '?after=0' },
    ]) {
      const listener = await listen(app, options)
      expect(await listener.until(10), JSON.stringify(options)).toEqual(numbers(before + 1, 10))
      listener.close()
    }
    const recent = await listen(app, { lastEventId: before + 7 })
    expect(await recent.until(3)).toEqual(numbers(before + 8, 3))
    recent.close()
    witness.close()
  })

  test('L11 during writes, a full replay neither skips nor repeats entries', async () => {
    const writing = act(300)
    const listeners = await Promise.all(
      [0, 1, 2].map((after) => listen(app, { lastEventId: after })),
    )
    await writing
    const total = await size()
    for (const [after, listener] of listeners.entries()) {
      expect(await listener.until(total - after)).toEqual(numbers(after + 1, total - after))
      listener.close()
    }
  })

  test('L11 a listener ahead of a restored backup receives new entries', async () => {
    const listener = await listen(app, { lastEventId: 999_999 })
    const before = await act(1)
    expect(await listener.until(1)).toEqual([before + 1])
    listener.close()
  })

  test('SV23 filters apply to past and new entries', async () => {
    const listener = await listen(app, { query: '?after=0&type=halt.&q=FILTERED' })
    await app.call('cowork_halt', { scope: 'domain:other', force: true, reason: 'not this' })
    await app.call('cowork_halt', { scope: 'domain:some', force: true, reason: 'Filtered' })
    await listener.until(1)
    const late = await listen(app, { query: '?after=0&type=halt.&q=FILTERED' })
    expect(await late.until(1)).toEqual(listener.seqs())
    expect(late.heard[1]?.data).toMatchObject({ type: 'halt.set' })
    listener.close()
    late.close()
  })

  test.each([
    ['?after=x', undefined],
    ['?limit=3', undefined],
    ['?type=nonsense', undefined],
    ['', 'x'],
    ['', '-1'],
  ])('SV23 an invalid query is refused: %s %s', async (query, lastEventId) => {
    const options = { query, ...(lastEventId !== undefined && { lastEventId }) }
    expect((await listen(app, options)).status).toBe(400)
  })

  test('SV21 the stream requires a token', async () => {
    expect((await fetch(`${app.url}/api/events`)).status).toBe(401)
    expect((await listen(app, { token: 'ps-cowork-wrong' })).status).toBe(401)
  })
})

describe('many', () => {
  test('SV23 1,000 listeners miss no entry, also after a reconnect', async () => {
    const listeners = await Promise.all(Array.from({ length: 1000 }, () => listen(app)))
    await act(50)
    const [first] = listeners
    await first?.until(20)
    first?.close()
    await first?.ended
    const last = first?.heard.at(-1)?.id ?? 0
    const back = await listen(app, { lastEventId: last })
    await act(50)
    const total = await size()
    expect(await back.until(total - last)).toEqual(numbers(last + 1, total - last))
    for (const listener of listeners.slice(1)) {
      await listener.until(1)
      const greeted = listener.heard[0]?.id ?? 0
      const all = numbers(greeted + 1, total - greeted)
      expect(await listener.until(all.length)).toEqual(all)
    }
    for (const listener of [...listeners, back]) listener.close()
  })
})

describe('access', () => {
  test('L10 SV23 an agent receives only its own entries, people all', async () => {
    const person = await listen(app)
    const token = await addAgent('hearing')
    await addAgent('other')
    const agent = await listen(app, { token })
    const curious = await listen(app, { token, query: '?actor=owner&after=0' })
    await app.call('cowork_status', {}, token)
    await app.call('cowork_status')
    await app.call('cowork_status', {}, token)
    await agent.until(2)
    await person.until(6)
    await sleep(200)
    const actors = agent.heard.slice(1).map(({ data }) => (data as { actor: object }).actor)
    expect(actors).toHaveLength(2)
    for (const actor of actors) expect(actor).toMatchObject({ kind: 'agent', id: 'hearing' })
    expect(curious.seqs()).toEqual([])
    for (const listener of [person, agent, curious]) listener.close()
  })

  test('I4 SV23 the stream of an agent ends when it is revoked', async () => {
    const token = await addAgent('leaving')
    const agent = await listen(app, { token })
    const person = await listen(app)
    await app.call('cowork_revoke_agent', { id: 'leaving' })
    await agent.ended
    expect((await listen(app, { token })).status).toBe(401)
    await person.until(1)
    person.close()
  })

  test('I6 SV23 the stream of a session ends when it is revoked', async () => {
    const opened = await app.call('cowork_open_link')
    const { output } = (await opened.json()) as { output: { link: string } }
    const code = new URL(output.link).hash.replace('#code=', '')
    const signedIn = await fetch(`${app.url}/api/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    const { token, session } = (await signedIn.json()) as { token: string; session: { id: string } }
    const tab = await listen(app, { token })
    const other = await listen(app)
    await app.call('cowork_status', {}, token)
    expect(await tab.until(1)).not.toHaveLength(0)
    await app.call('cowork_revoke_session', { session: session.id })
    await tab.ended
    expect((await listen(app, { token })).status).toBe(401)
    other.close()
  })

  test('SV3 streams end with the daemon', async () => {
    const ending = await startTestApp()
    const listener = await listen(ending)
    await ending.close()
    await listener.ended
    expect(listener.heard[0]).toMatchObject({ event: 'hello' })
  })
})
