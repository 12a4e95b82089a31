import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { anna, propose } from '../../../test/acts.ts'
import { createMigratedDatabase } from '../../../test/databases.ts'
import { openGoverned, postgresStore } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const body = (constraint?: string) => ({
  policies: [{ id: 'crm', rules: constraint ? [{ field: 'note', constraint }] : [] }],
  mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'crm' }],
})

let daemons: Governed[]
beforeAll(async () => {
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  // The first daemon creates the tables; then all start together on an empty one.
  const first = await openGoverned(body(), {}, store)
  const others = await Promise.all([1, 2].map(() => openGoverned(body(), {}, store)))
  daemons = [first, ...others]
  await Promise.all(daemons.map(({ governance }) => governance.versions.start()))
})
afterAll(async () => {
  for (const daemon of daemons) await daemon.close()
})

const save = (to: Governed, given: unknown): Promise<Said> =>
  to.call('cowork_save_policies', { body: given, confirm: true }, anna)
const versionsOf = async (of: Governed) =>
  (await of.call('cowork_policy_versions', {}, anna))['versions'] as Said[]

test('Y6 daemons that start together load the file once', async () => {
  const [first] = daemons as [Governed]
  expect(await versionsOf(first)).toHaveLength(1)
  expect(await first.entries(['policy.loaded'])).toHaveLength(1)
})

test('Y6 a version saved by one daemon becomes active in the others', async () => {
  const [first, second] = daemons as [Governed, Governed]
  await save(first, body('readonly'))
  await second.governance.versions.refresh()
  expect(await propose(second)).toMatchObject({ fault: 'policy_blocked', policy_id: 'crm' })
})

test('Y6 concurrent saves in several daemons form one history, and the last version is active', async () => {
  const wanted = daemons.flatMap((daemon, at) =>
    ['high_risk', 'readonly'].map((constraint) => ({
      daemon,
      given: { ...body(constraint), policies: [{ id: 'crm', description: `${constraint} ${at}` }] },
    })),
  )
  const saved = await Promise.all(wanted.map(({ daemon, given }) => save(daemon, given)))
  const numbers = saved.map(({ number }) => Number(number)).toSorted((a, b) => a - b)
  expect(numbers).toEqual([2, 3, 4, 5, 6, 7])
  const newest = saved.find(({ number }) => number === 7)
  for (const { governance } of daemons) {
    await governance.versions.refresh()
    expect(governance.policies().version).toBe(newest?.['version'])
  }
  const [first] = daemons as [Governed]
  const entries = await first.entries(['policy.'])
  const chain = entries.map(({ data }) => [data?.['from'], data?.['version']])
  expect(chain.slice(1).map(([from]) => from)).toEqual(chain.slice(0, -1).map(([, to]) => to))
})
