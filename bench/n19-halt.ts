// N19 how soon an owner's halt is acknowledged and effective while agents keep 64 hostile calls in flight
import { request } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'
import { statePaths } from '#base/state.ts'
import { startDaemon } from '../test/daemon.ts'
import { inMs, median, report } from './harness.ts'
import { startChild } from './parts/child.ts'
import { tempFolder } from './parts/folder.ts'
import type { HostileDone, HostileOrder } from './parts/hostile.ts'
import { hostileKinds } from './parts/hostile-messages.ts'
import type { HostileKind } from './parts/hostile-messages.ts'

const rounds = 5
const kinds = process.argv.slice(2) as HostileKind[]
const groups: readonly (readonly HostileKind[])[] =
  kinds.length > 0
    ? kinds.map((kind) => [kind])
    : [...hostileKinds.map((kind) => [kind]), [...hostileKinds]]

const agents = ['ada', 'bob', 'cyd', 'dan'].map((id) => ({
  id,
  token: `sk-cowork-${randomHex(24)}`,
}))
using state = tempFolder()
writeFileSync(
  statePaths(state.path).config,
  JSON.stringify({
    server: { port: 0 },
    agents: agents.map(({ id, token }) => ({ id, token_hash: sha256Hex(token) })),
    authority: { volume_cap: 0, agent_volume_cap: 0 },
  }),
)
await using daemon = await startDaemon(state.path)
const paths = statePaths(state.path)

/** Sends over a separate connection, like the command line. */
function call(via: 'socket' | 'http', tool: string, input: object): Promise<number> {
  const body = JSON.stringify({ arguments: input })
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...(via === 'socket'
          ? { socketPath: paths.apiSocket }
          : { port: daemon.port, host: '127.0.0.1' }),
        agent: false,
        path: `/api/tools/${tool}/call`,
        method: 'POST',
        headers: {
          host: `localhost:${daemon.port}`,
          authorization: `Bearer ${daemon.owner}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - start)
          else reject(new Error(`${tool} answered ${response.statusCode}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

type Halted = { readonly socket: number[]; readonly http: number[] }

async function haltRounds(count: number, pauseMs: () => number): Promise<Halted> {
  const taken: Halted = { socket: [], http: [] }
  for (let round = 0; round < count; round++)
    for (const via of ['socket', 'http'] as const) {
      await sleep(pauseMs())
      taken[via].push(await call(via, 'cowork_halt', { scope: 'all', reason: 'bench' }))
      await sleep(20)
      await call(via, 'cowork_resume', { scope: 'all' })
    }
  return taken
}

await haltRounds(10, () => 5)
const idle = await haltRounds(20, () => 5)
const all = ({ socket, http }: Halted) => [...socket, ...http]

async function under(kinds: readonly HostileKind[]) {
  const file = join(import.meta.dirname, 'parts', 'hostile.ts')
  const children = await Promise.all(agents.map(() => startChild(file)))
  try {
    for (const [at, child] of children.entries())
      await child.ask({
        port: daemon.port,
        socket: paths.socket,
        token: agents[at]?.token ?? '',
        kinds,
        via: at === 3 ? 'stdio' : 'http',
        inFlight: 16,
      } satisfies HostileOrder)
    await sleep(1000)
    const taken = await haltRounds(rounds, () => 100 + Math.random() * 100)
    const done = await Promise.all(children.map((child) => child.ask<HostileDone>('stop')))
    return { taken, done }
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}

let most = 0
const medians: number[] = []
for (const kinds of groups) {
  const { taken, done } = await under(kinds)
  const [p50, max] = [median(all(taken)), Math.max(...all(taken))]
  most = Math.max(most, max)
  medians.push(p50)
  const answers: Record<string, number> = {}
  for (const one of done)
    for (const [code, count] of Object.entries(one.answers))
      answers[code] = (answers[code] ?? 0) + count
  console.log(
    `${(kinds.length > 1 ? 'all at once' : kinds.join()).padEnd(16)} p50 ${inMs(p50)}, most ${inMs(max)}; ${JSON.stringify(answers)}`,
  )
}

report([
  {
    id: 'N19',
    what: `owner's halt answered, 64 hostile calls in flight, ${groups.length} kinds of them: most (median)`,
    ours: `${inMs(most)} (${inMs(median(medians))})`,
    beside: `${inMs(Math.max(...all(idle)))} (${inMs(median(all(idle)))}), idle`,
    ratio: '–',
    goal: '< 100 ms',
    met: most < 100,
  },
])
