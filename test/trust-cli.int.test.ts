import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

type Json = Record<string, unknown>
type Item = { id: string; kind: string; look_back?: string; domain: string }

const jsonOf = (text: string) => JSON.parse(text) as Json

// No action is drawn at random: a mistake found by a person opens the checks.
const place = newPlace('trust: { spot_check_rate: 0.000001 }')
const { cowork } = place
let token = ''

beforeAll(async () => {
  await cowork(['up', '-d'])
  token = String(jsonOf((await cowork(['agents', 'add', 'sales', '--json'])).stdout)['token'])
})
afterAll(place.end)

async function propose(domain: string, target: string): Promise<string> {
  const { port } = place.daemon()
  const answer = await fetch(`http://localhost:${port}/api/tools/cowork_propose/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      arguments: {
        domain,
        action: 'update_deal',
        target,
        proposed_change: { note: 'call back' },
        confidence: 0.9,
        reasoning: 'They asked for it.',
      },
    }),
  })
  const { output } = (await answer.json()) as { output: { mode: string } }
  return output.mode
}

const byHand = (args: string[]) => inTerminal(place, args).ended()

const checksIn = async (domain: string): Promise<Item[]> => {
  const listed = jsonOf((await cowork(['inbox', '--domain', domain, '--json'])).stdout)
  return (listed['items'] as Item[]).filter(({ kind }) => kind === 'spot_check')
}

const vouch = (domain: string) =>
  byHand(['trust', 'set', 'sales', domain, '0.9', '--reason', 'known for years'])

/** A vouched agent with three autonomous actions and a mistake: a look-back of three. */
async function withLookBack(domain: string): Promise<Item[]> {
  await vouch(domain)
  for (const target of ['deal-1', 'deal-2', 'deal-3'])
    expect(await propose(domain, target)).toBe('act')
  const found = ['override', 'sales', domain, '--type', 'agent_wrong', '--description', 'wrong']
  expect((await byHand(found)).code).toBe(0)
  const checks = await checksIn(domain)
  expect(checks).toHaveLength(3)
  return checks
}

test('K6 T16 trust set reports that 0.8 or more vouches and that less opens no gate', async () => {
  const vouched = await vouch('crm.set')
  expect(vouched.output).toContain(
    'Vouched: the agent acts autonomously at low and normal risk until its first error.',
  )
  const { stdout } = await cowork(['trust', 'sales', 'crm.set'])
  expect(stdout).toMatch(/^NORMAL RISK {2}Autonomous: a person vouched for it; /m)
  expect(stdout).toMatch(/^HIGH RISK {2}Supervised: not enough reviewed actions$/m)
  expect(stdout).toMatch(/^ {2}next: +25 more correct actions$/m)
  expect(stdout).toMatch(/^ {2}credit: +····\|·{10} {2}0 of 25$/m)
  const less = await byHand(['trust', 'set', 'sales', 'crm.set', '0.79', '--reason', 'not sure'])
  expect(less.output).toContain(
    'Not vouched: below 0.80 the agent acts autonomously only after it has earned it.',
  )
  expect((await cowork(['trust', 'sales', 'crm.set'])).stdout).toMatch(
    /^NORMAL RISK {2}Supervised: trust is 0\.79$/m,
  )
})

test('K6 T14 a look-back is one group in the list, and trust shows cause, debt and next step', async () => {
  const checks = await withLookBack('crm.back')
  expect(new Set(checks.map(({ look_back: back }) => back)).size).toBe(1)
  expect(await propose('crm.back', 'deal-4')).toBe('suggest')
  const { stdout } = await cowork(['inbox', '--domain', 'crm.back'])
  const [before, after = ''] = stdout.split(
    'An error of sales in crm.back was found: check these 3 actions too.',
  )
  expect(before).toContain('proposal')
  expect(before).not.toContain('spot check')
  expect(after.match(/spot check/g)).toHaveLength(3)

  const { stdout: all } = await cowork(['trust', 'sales', 'crm.back'])
  expect(all).toMatch(/^NORMAL RISK {2}Supervised: an autonomous action was wrong$/m)
  expect(all).toMatch(/^ {2}next: +review 3 actions done alone; each correct one counts/m)
  expect(all).toMatch(/^ {2}credit: +···◂\|·{10} {2}−50 of 25$/m)
  expect(all).toMatch(/^ {2}strikes: +1 of 4, one is cleared after 15 clean checks$/m)
  expect(all).toMatch(/^ {2}checks: +3 pending, 3 from a look-back, the oldest since /m)
  expect(all).not.toMatch(/probab|evidence|likely/i)
  const report = await cowork(['report', '--domain', 'crm.back'])
  expect(report.stdout).toMatch(
    /^sales +crm\.back +normal +Supervised +an autonomous action was wrong: review 3 /m,
  )
  expect(report.stdout).toMatch(
    /^autonomous: +75 % decided by trust, 33\.3 of 100 marked as wrong$/m,
  )
  const listed = await cowork(['trust', 'sales'])
  expect(listed.stdout).toMatch(/^AGENT +DOMAIN +TRUST +LEVEL +REASON +NEXT$/m)
  expect(listed.stdout).toMatch(
    /^sales +crm\.back +0\.82 +Supervised +an autonomous action was wrong/m,
  )
})

test('K6 T14 a check is shown with its effects before confirmation, and a skipped one does not count', async () => {
  const [first, second, third] = await withLookBack('crm.confirm')
  const confirming = inTerminal(place, ['approve', first?.id ?? ''])
  await expect.poll(() => confirming.output(), { timeout: 20_000 }).toContain('Confirm? [y/N]')
  expect(confirming.output()).toContain('Counts as five correct actions: 70 are still missing.')
  expect(confirming.output()).toMatch(/entry \d+, proposal\.created/)
  confirming.press('y\r')
  expect((await confirming.ended()).output).toMatch(/^confirmed +[0-9a-f-]{36} /m)
  const credit = async () =>
    /credit: .* (\S+) of 25/.exec((await cowork(['trust', 'sales', 'crm.confirm'])).stdout)?.[1]
  const normal = async () => {
    const { classes } = jsonOf((await cowork(['trust', 'sales', 'crm.confirm', '--json'])).stdout)
    return (classes as { risk: string; credit: { now: number } }[]).find(
      ({ risk }) => risk === 'normal',
    )?.credit.now
  }
  expect(await credit()).toBe('0')
  expect(await normal()).toBe(-45)

  const leaving = inTerminal(place, ['approve', second?.id ?? ''])
  await expect.poll(() => leaving.output(), { timeout: 20_000 }).toContain('Confirm? [y/N]')
  leaving.press('n\r')
  expect((await leaving.ended()).output).toMatch(/^pending /m)
  expect(await checksIn('crm.confirm')).toHaveLength(2)

  const skipped = await byHand(['approve', second?.id ?? '', '--skip'])
  expect(skipped.output).toMatch(/^closed .* no trust change$/m)
  expect(await normal()).toBe(-45)
  const taste = await byHand(['reject', third?.id ?? '', '--type', 'human_preference'])
  expect(taste.output).toMatch(/^marked as wrong /m)
  expect(await normal()).toBe(-45)
  expect(await checksIn('crm.confirm')).toEqual([])
  expect((await byHand(['approve', 'x', '--skip'])).code).toBe(3)
})

test('K6 T14 the inbox requires reading a check before the answer', async () => {
  await withLookBack('crm.screen')
  const terminal = inTerminal(place, ['inbox', '--domain', 'crm.screen'])
  const sees = async (text: string | RegExp) => {
    await expect.poll(() => terminal.lines().join('\n'), { timeout: 20_000 }).toMatch(text)
  }
  await sees('look-back 1 of 3')
  await sees('a confirm  d wrong  o prefer  x skip')
  terminal.press('a')
  await sees('Read the action before you decide.')
  await sees('Confirm: Counts as five correct actions')
  terminal.press('a')
  await sees('Confirmed.')
  await sees('look-back 1 of 2')
  terminal.press('q')
  await terminal.ended()
})

test('K6 T16 forgive clears strikes and debt with a reason, for people only', async () => {
  await withLookBack('crm.forgive')
  const forgive = ['trust', 'forgive', 'sal', 'crm.forg', '--reason', 'a bad import, now fixed']
  expect(await cowork(forgive)).toMatchObject({ code: 4 })
  expect((await byHand(forgive.slice(0, 4))).code).toBe(2)
  const done = await byHand(forgive)
  expect(done).toMatchObject({ code: 0 })
  expect(done.output).toContain('Cleared strikes and debt of sales in crm.forgive, normal risk.')
  expect(done.output).toMatch(/strikes: +none/)
  const entries = (await cowork(['audit', 'tail', '--json'])).stdout.trim().split('\n').map(jsonOf)
  expect(entries.filter(({ type }) => type === 'trust.forgiven')).toMatchObject([
    { domain: 'crm.forgive', subject: 'sales', data: { reason: 'a bad import, now fixed' } },
  ])
  const again = await byHand(forgive)
  expect(again.code).not.toBe(0)
  expect(again.output).toContain('No strikes and no debt')
  expect((await byHand(['trust', 'forgive', 'sales', 'nowhere', '--reason', 'x'])).code).toBe(3)
})
