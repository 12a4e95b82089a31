import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { anna, ben, decide, earn, getOutcomes, propose, trusted } from '../../test/acts.ts'
import { listChecks, readClass } from '../../test/checks.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { openGoverned, postgresStore } from '../../test/governed.ts'
import type { Governed, Said } from '../../test/governed.ts'

const settings = { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 }
const wrong = { decision: 'reject', override: { type: 'agent_wrong' } }
let daemons: [Governed, Governed]
beforeAll(async () => {
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const start = () => openGoverned(settings, { draw: () => 0 }, store)
  daemons = [await start(), await start()]
  await earn(daemons[0], 25)
})
afterAll(() => Promise.all(daemons.map((daemon) => daemon.close())))

const people = [anna, ben] as const

/** A person at each daemon opens the check there; both answer concurrently. */
async function answerAtBoth(id: string, answers: readonly [object, object]): Promise<Said[]> {
  for (const [at, daemon] of daemons.entries())
    await daemon.governance.inbox.detail(people[at] ?? anna, id)
  const result = await Promise.all(
    daemons.map((daemon, at) => decide(daemon, [id], answers[at], people[at])),
  )
  return result.map((one) => getOutcomes(one)[0] ?? {})
}

const standing = async () => {
  const [row] = await daemons[0].rows('trust')
  const { normal_credit: credit, normal_strikes: strikes, normal_clean: clean } = row as Said
  return { credit, strikes, clean }
}

const isSound = async () =>
  expect(await daemons[0].verify()).toMatchObject({ ok: true, problems: [] })

test('T10 T14 an action drawn by both daemons, or found after a start, is checked once', async () => {
  const replies = await Promise.all(
    [0, 1, 2, 3].map((n) => propose(daemons[n % 2 === 0 ? 0 : 1], { target: `deal-${n}` })),
  )
  expect(replies.map(({ mode }) => mode)).toEqual(['act', 'act', 'act', 'act'])
  await Promise.all(
    daemons.flatMap(({ governance, ledger, now }) => [
      governance.spotChecks.flush(),
      governance.spotChecks.catchUp(ledger, now()),
    ]),
  )
  const targets = (await listChecks(daemons[0])).map(({ target }) => target)
  expect(targets.toSorted()).toEqual(['deal-0', 'deal-1', 'deal-2', 'deal-3'])
  expect(await daemons[0].rows('spot_check')).toHaveLength(4)
})

test('T10 T14 a check confirmed at both daemons concurrently counts once', async () => {
  const checks = await listChecks(daemons[0])
  for (const [at, { id }] of checks.entries()) {
    const outcomes = await answerAtBoth(id, [{}, {}])
    expect(outcomes.map(({ status }) => status)).toContain('approved')
    expect(outcomes).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ code: 'already_decided' }) }),
    )
    expect(await standing()).toEqual({ credit: 25, strikes: 0, clean: at + 1 })
  }
  await isSound()
})

test('T10 T14 of a confirmation at one daemon and a rejection at the other, one counts', async () => {
  for (let round = 0; round < 6; round++) {
    const before = await standing()
    await propose(daemons[round % 2 === 0 ? 0 : 1], { target: `round-${round}` })
    await daemons[round % 2 === 0 ? 0 : 1].governance.spotChecks.flush()
    const [check] = await listChecks(daemons[0])
    if (!check) break
    const outcomes = await answerAtBoth(check.id, round % 2 === 0 ? [{}, wrong] : [wrong, {}])
    const statuses = outcomes.map(({ status }) => status)
    expect(outcomes.filter(({ error }) => error !== undefined)).toHaveLength(1)
    const isWrong = statuses.includes('rejected')
    expect(await standing()).toEqual(
      isWrong
        ? { credit: -25, strikes: Number(before.strikes) + 1, clean: 0 }
        : { credit: 25, strikes: before.strikes, clean: Number(before.clean) + 1 },
    )
    if (isWrong) break
  }
  await isSound()
})

test('T10 T14 credit earned at both daemons concurrently counts once', async () => {
  const forgive = { agent_id: 'sales', domain: 'crm', reason: 'Start again.' }
  await daemons[0].call('cowork_forgive', forgive, anna)
  await trusted(daemons[0], 0.7)
  const before = Number((await standing()).credit)
  const ids: string[] = []
  for (let n = 0; n < 30; n++) ids.push(String((await propose(daemons[0]))['proposal_id']))
  await Promise.all(
    ids.flatMap((id) => daemons.map((daemon, at) => decide(daemon, [id], {}, people[at]))),
  )
  expect(await standing()).toMatchObject({ credit: Math.min(25, before + 30) })
  expect(await readClass(daemons[1])).toMatchObject({ credit: { now: 25 } })
  await isSound()
})
