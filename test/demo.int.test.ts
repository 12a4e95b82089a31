import { expect, test } from 'vitest'
import { testPlace } from './cli.ts'

type Played = {
  readonly agent: string
  readonly trust: number
  readonly mode: string
  readonly approved: number
  readonly overridden: number
  readonly acted: number
  readonly left: number
}

const demo = ['demo', '--proposals', '30', '--pace', '0', '--json']

async function started(config = '') {
  const place = testPlace(config)
  expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await place.cowork([...args, '--json'])).stdout) as T
  return { ...place, json }
}

test('K7 agents of different quality earn different autonomy, and some is left to decide', async () => {
  const { cowork, json } = await started('trust: { spot_check_rate: 0 }')
  const { code, stdout } = await cowork(demo)
  expect(code).toBe(0)
  const { agents } = JSON.parse(stdout) as { agents: Played[] }
  const [careful, steady, hasty] = agents
  expect(careful).toMatchObject({ agent: 'demo-careful', mode: 'act', overridden: 0 })
  expect(careful?.acted).toBeGreaterThan(0)
  expect(steady?.overridden).toBeGreaterThan(0)
  expect(steady?.acted).toBe(0)
  expect(hasty?.trust).toBeLessThan(0.5)
  const { items } = await json<{ items: { kind: string; domain: string }[] }>('inbox')
  expect(items).toHaveLength((steady?.left ?? 0) + (hasty?.left ?? 0) + 1)
  expect(items.filter(({ kind }) => kind === 'handoff')).toHaveLength(1)
  expect(items.every(({ domain }) => domain.startsWith('demo.'))).toBe(true)
})

test('K7 in closed mode they get tokens of their own, which end with the play', async () => {
  const { cowork, json } = await started()
  await cowork(['agents', 'add', 'mine'])
  expect(await cowork(demo)).toMatchObject({ code: 0 })
  const { agents } = await json<{ agents: { id: string; status: string }[] }>('agents', 'ls')
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  expect(active).toEqual(['mine'])
})

test('K7 where it has no room it says so, and how to give it some', async () => {
  const { cowork } = await started('authority: { volume_cap: 5 }')
  const { code, stderr } = await cowork(demo)
  expect(code).not.toBe(0)
  expect(stderr).toContain('VolumeCapError')
  expect(stderr).toContain('a state folder of its own')
})
