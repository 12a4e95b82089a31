import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createClient, fixture, proposed, createSpeakers } from './speakers.ts'
import type { Page, Speaker } from './speakers.ts'

let app: TestApp
let owner: Speaker
let reviewer: Speaker
let sales: Speaker
let support: Speaker
beforeAll(async () => {
  app = await startTestApp({}, { fixture })
  ;({ owner, reviewer, sales, support } = await createSpeakers(app))
})
afterAll(() => app.close())

test('C2 it lists and filters for people', async () => {
  const mine = await proposed(sales, { domain: 'list', target: 'Needle-7' })
  const theirs = await proposed(support, { domain: 'list' })
  const ids = async (query: string, by = owner) => (await by.list(query)).items.map(({ id }) => id)
  expect(await ids('?domain=list')).toEqual([theirs, mine])
  expect(await ids('?domain=list&agent=support')).toEqual([theirs])
  expect(await ids('?q=needle-7', reviewer)).toEqual([mine])
  expect(await ids('?domain=list&kind=call')).toEqual([])
  await reviewer.call('cowork_approve', { proposal_id: mine, feedback: 'ok' })
  expect(await ids('?domain=list')).toEqual([theirs])
  expect((await owner.list('?domain=list&status=decided')).items).toMatchObject([
    { id: mine, status: 'approved', decided_by: 'rita', reason: 'ok' },
  ])
  expect(await ids('?domain=list&status=all')).toEqual([theirs, mine])
  expect(await ids(`?ids=${mine},${theirs},nothing`)).toEqual([theirs, mine])
  const { counts } = await owner.list('?limit=1')
  expect(counts['all']).toBeGreaterThan(0)
  expect(counts['all']).toBe(
    Object.entries(counts).reduce((sum, [kind, n]) => (kind === 'all' ? sum : sum + n), 0),
  )
})

test('C2 it comes in pages', async () => {
  for (let i = 0; i < 5; i++) await proposed(sales, { domain: 'pages', target: `${i}` })
  const seen: unknown[] = []
  let next: string | null = ''
  while (next !== null) {
    const page: Page = await owner.list(
      `?domain=pages&limit=2${next && `&after=${encodeURIComponent(next)}`}`,
    )
    expect(page.items.length).toBeLessThanOrEqual(2)
    seen.push(...page.items.map(({ target }) => target))
    next = page.next
  }
  expect(seen).toHaveLength(5)
  expect(new Set(seen)).toEqual(new Set(['0', '1', '2', '3', '4']))
})

test('L10 an agent sees its own only', async () => {
  const mine = await proposed(support, { domain: 'own' })
  const theirs = await proposed(sales, { domain: 'own' })
  for (const query of ['?domain=own', `?ids=${mine},${theirs}`, '?domain=own&agent=sales']) {
    const { items, counts } = await support.list(query)
    expect(items.map(({ id }) => id)).toEqual([mine])
    expect(counts).toEqual({})
  }
  expect((await support.ask(`/api/approvals/${mine}`)).body).toMatchObject({ id: mine })
  expect((await support.ask(`/api/approvals/${theirs}`)).status).toBe(404)
  expect((await createClient(app, 'wrong').ask('/api/approvals')).status).toBe(401)
})

test('SV22 what cannot be asked is refused with why', async () => {
  for (const query of ['?limit=0', '?limit=1001', '?status=odd', '?colour=red', '?q=%00'])
    expect(await owner.ask(`/api/approvals${query}`), query).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_input' } },
    })
  expect((await owner.ask('/api/approvals/nothing')).status).toBe(404)
  expect((await owner.ask('/api/approvals/%00')).status).toBe(400)
  const id = await proposed(sales)
  const decide = (body: object) => owner.ask(`/api/approvals/${id}/decide`, body)
  expect((await decide({ decision: 'maybe' })).status).toBe(400)
  expect((await decide({ decision: 'approve', change: 7 })).status).toBe(400)
})

test('A8 one says why it is asked, and what a decision would do', async () => {
  const id = await proposed(sales, { domain: 'detail', proposed_change: { deal_stage: 'won' } })
  const { body } = await owner.ask(`/api/approvals/${id}`)
  expect(body).toMatchObject({
    id,
    risk: 'high',
    change: { deal_stage: 'won' },
    why: {
      text: expect.stringMatching(/^You are asked because deal_stage is high risk/),
      high_risk_fields: ['deal_stage'],
      thresholds: { suggest: 0.5, act: 0.8 },
    },
    effect: { approve: { from: 0.3, to: 0.32 } },
    history: [],
    trust_points: [],
  })
})

test.each(['decide', 'decision'])('RM11 POST /api/approvals/{id}/%s decides', async (verb) => {
  const id = await proposed(sales, { domain: 'verbs' })
  const answer = await owner.ask(`/api/approvals/${id}/${verb}`, { decision: 'approve' })
  expect(answer.status).toBe(200)
  expect((await owner.list(`?ids=${id}`)).items).toMatchObject([{ id, status: 'approved' }])
})
