// One case of the research list, and what holds for every one of them: a stable answer, nothing outside
// touched or told, one entry in the ledger, and a server that goes on.
import { mkdirSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { secret, secretName, signOfLife } from './stand.ts'
import type { Agent, Door, Reply, Stand } from './stand.ts'

type Area = 'workspace' | 'granted'

export type Scene = {
  readonly stand: Stand
  readonly area: Area
  /** A path of this case on disk. */
  disk(...names: string[]): string
  /** The same as the agent names it: relative in the workspace, absolute under a grant. */
  path(...names: string[]): string
}

type Check = (reply: Reply, scene: Scene) => void | Promise<void>

export type Case = {
  /** Number and name in the list. */
  readonly id: string
  readonly rule: string
  readonly what: string
  /** Where it is played: both, unless one is named. */
  readonly in?: Area
  readonly arrange?: (scene: Scene) => void | Promise<void>
  readonly call: (scene: Scene) => readonly [tool: string, args: object]
  /** So often at once. */
  readonly times?: number
  /** The code of the refusal, or what a good answer looks like. */
  readonly answer: string | Check
  /** The names in the folder of the case afterwards. */
  readonly left?: readonly string[]
  /** Checks the disk after the call. */
  readonly after?: (scene: Scene) => void
}

const areas: readonly Area[] = ['workspace', 'granted']

/** A table for `test.each`: every case in every area it is meant for; over stdio in one of them. */
export const played = (cases: readonly Case[], door: Door) =>
  cases.flatMap((one) =>
    (one.in ? [one.in] : areas)
      .slice(door === 'stdio' ? -1 : 0)
      .map((area) => ({ name: `${one.rule} case ${one.id}: ${one.what} (${area})`, area, one })),
  )

let count = 0

/** Entries that end a call: there is exactly one of each call. */
const endings = new Set(['call.done', 'call.refused', 'call.failed'])

export async function play(stand: Stand, agent: Agent, area: Area, one: Case): Promise<void> {
  const own = join(stand[area], `case-${count++}`)
  mkdirSync(own)
  const disk = (...names: string[]) => join(own, ...names)
  const path = (...names: string[]) =>
    area === 'granted' ? disk(...names) : relative(stand.workspace, disk(...names))
  const scene: Scene = { stand, area, disk, path }
  await one.arrange?.(scene)
  const [tool, args] = one.call(scene)
  const before = stand.around()
  const size = await stand.ledgerSize()

  const replies = await Promise.all(
    Array.from({ length: one.times ?? 1 }, () => agent.call(tool, args)),
  )
  for (const reply of replies) {
    if (typeof one.answer === 'string') expect(reply.code, reply.wire).toBe(one.answer)
    else await one.answer(reply, scene)
    checkTellsNothing(stand, args, reply)
  }
  expect(stand.around()).toEqual(before)
  if (one.left) expect(readdirSync(own).toSorted()).toEqual(one.left)
  one.after?.(scene)

  await expectEntries(stand, size, tool, replies)
  const alive = await agent.call('read_file', { path: signOfLife })
  expect(alive.text).toBe('alive')
}

/** Checks that the reply reveals nothing from outside, except words that the agent sent itself. */
function checkTellsNothing({ outside }: Stand, args: object, { wire }: Reply): void {
  const sent = JSON.stringify(args)
  for (const word of [secret, secretName, outside])
    if (!sent.includes(word)) expect(wire).not.toContain(word)
}

async function expectEntries(
  stand: Stand,
  size: number,
  tool: string,
  replies: readonly Reply[],
): Promise<void> {
  const ended = async () =>
    (await stand.entriesAfter(size)).filter(
      ({ type, data, actor, subject = '' }) =>
        endings.has(type) &&
        data.tool === tool &&
        actor.id === 'mallory' &&
        // The sign of life of the case before may be recorded after its answer.
        !subject.endsWith(`/${signOfLife}`),
    )
  if (replies[0]?.code === 'approval_required') {
    // A call that waits for a person has not ended: the ledger shows its request.
    const asked = (await stand.entriesAfter(size)).filter(
      ({ type }) => type === 'approval.requested',
    )
    expect(asked).toHaveLength(replies.length)
    return
  }
  await expect.poll(async () => (await ended()).length).toBe(replies.length)
  const entries = await ended()
  expect(new Set(entries.map(({ ids }) => ids.call)).size).toBe(replies.length)
  expect(entries.map(({ outcome }) => outcome ?? '').toSorted()).toEqual(
    replies.map(({ code }) => code ?? 'done').toSorted(),
  )
}
