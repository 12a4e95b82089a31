// Undo of autonomous file changes from their spot checks (T14, TR1, TR3).
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPlace } from './files.ts'
import type { Place } from './files.ts'

type Undo = { tool: string; arguments: object; text: string }

/** The agent writes and deletes autonomously, and every action is checked. */
async function open() {
  const place = await openPlace({
    'trust.evidence_gate': false,
    'trust.spot_check_rate': 0.2,
    policies: [{ id: 'all', rules: [] }],
    mappings: [{ agent_id: '*', domain: 'files', policy_id: 'all' }],
  })
  const known = { agent_id: 'writer', domain: 'files', score: 0.9, reason: 'known from before' }
  await place.owner.call('cowork_set_trust', known)
  return place
}

/** Opens the only pending check as the owner. */
async function opened({ owner }: Place) {
  const waiting = async () => (await owner.list('?kind=spot_check')).items
  await expect.poll(waiting).toHaveLength(1)
  const id = (await waiting())[0]?.id ?? ''
  const { status, body } = await owner.ask(`/api/approvals/${id}`)
  expect(status).toBe(200)
  return { id, undo: (body['check'] as { undo?: Undo }).undo }
}

const run = ({ owner }: Place, undo: Undo | undefined) =>
  owner.call(undo?.tool ?? '', undo?.arguments)

/** The check rate by risk class. */
async function rates({ owner }: Place): Promise<number[]> {
  const { standings } = await owner.call('cowork_standing', { agent_id: 'writer' })
  const [{ classes } = { classes: [] }] = standings as { classes: { checks: { rate: number } }[] }[]
  return classes.map(({ checks }) => checks.rate)
}

test('T14 TR1 an autonomously deleted file is restored from its check', async () => {
  const place = await open()
  const path = join(place.workspace, 'report.md')
  writeFileSync(path, 'numbers\n')
  expect(await place.agent.call('delete_file', { path })).toMatchObject({ isError: false })
  expect(existsSync(path)).toBe(false)
  const { id, undo } = await opened(place)
  expect(undo).toEqual({
    tool: 'trash_restore',
    arguments: { trash_id: expect.any(String) },
    text: 'Restore report.md from the trash',
  })
  expect(await run(place, undo)).toMatchObject({ success: true })
  expect(readFileSync(path, 'utf8')).toBe('numbers\n')
  const again = await opened(place)
  expect(again).toEqual({ id, undo: undefined })
})

test('T14 TR3 an autonomous change is reverted from its check', async () => {
  const place = await open()
  const path = join(place.workspace, 'report.md')
  writeFileSync(path, 'numbers\n')
  await place.agent.call('update_file', { path, content: 'nonsense\n' })
  const { undo } = await opened(place)
  expect(undo).toMatchObject({
    tool: 'file_restore_version',
    arguments: { path },
    text: 'Restore the previous version of report.md',
  })
  expect(await run(place, undo)).toMatchObject({ success: true })
  expect(readFileSync(path, 'utf8')).toBe('numbers\n')
})

test('T14 a created file has no undo in its check', async () => {
  const place = await open()
  await place.agent.call('create_file', { path: 'new.md', content: 'new\n' })
  expect((await opened(place)).undo).toBeUndefined()
})

test.each([
  ['delete_file', {}],
  ['update_file', { content: 'nonsense\n' }],
] as const)('T14 who undid a %s confirms nothing by confirming it', async (tool, more) => {
  const place = await open()
  const folder = join(place.workspace, 'plans')
  const link = join(place.workspace, 'link')
  mkdirSync(folder)
  symlinkSync(folder, link)
  writeFileSync(join(folder, 'plan.md'), 'mine\n')
  const decisions: unknown[] = []
  const before = await rates(place)
  for (let round = 0; round < 6; round++) {
    const path = join(round % 2 === 0 ? folder : link, 'plan.md')
    expect(await place.agent.call(tool, { path, ...more })).toMatchObject({ isError: false })
    const { id, undo } = await opened(place)
    expect(await run(place, undo)).toMatchObject({ success: true })
    decisions.push(
      await place.owner.call('cowork_decide', { approval_ids: [id], decision: 'approve' }),
    )
  }
  for (const result of decisions) expect(result).toMatchObject({ errors: 0 })
  // Five consecutive clean checks would have lowered the check rate.
  expect(await rates(place)).toEqual(before)
  expect(before).toEqual([1, 1, 1])
  const { body } = await place.owner.ask('/api/ledger?type=approval.approved&limit=100')
  const entries = body['entries'] as { data: { kind: string; counted?: boolean } }[]
  expect(entries.map(({ data }) => data.counted)).toEqual(Array(6).fill(false))
})
