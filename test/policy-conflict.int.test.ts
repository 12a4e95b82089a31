import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proposal } from './acts.ts'
import { testPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

const strict = `
policies:
  - id: careful
    rules: [{ id: no-notes, field: note, constraint: readonly, reason: People write notes. }]
mappings: [{ agent_id: '*', domain: '*', policy_id: careful }]
`

test('RC4 RC5 cowork approve names the blocking policy and accepts its version as a flag', async () => {
  const place = testPlace()
  const { cowork } = place
  await cowork(['up', '-d'])
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await cowork([...args, '--json'])).stdout) as T
  const byHand = (...args: string[]) => inTerminal(place, args).ended()
  const { token } = await json<{ token: string }>('agents', 'add', 'sales')
  const reply = await fetch(
    `http://localhost:${place.daemon().port}/api/tools/cowork_propose/call`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: proposal() }),
    },
  )
  const { output } = (await reply.json()) as { output: { proposal_id: string } }
  const { proposal_id: id } = output
  const file = join(place.state, 'strict.yaml')
  writeFileSync(file, strict)
  const save = ['policy', 'save', '--file', file, '--note', 'strict', '--confirm']
  const saved = await byHand(...save)
  expect(saved.code, saved.output).toBe(0)

  type Shown = { status: string; policy_conflict?: { version: string; rule: string } }
  const shown = await json<Shown>('inbox', 'show', id)
  expect(shown.policy_conflict).toMatchObject({ policy: 'careful', rule: 'no-notes' })
  expect((await cowork(['inbox', 'show', id])).stdout).toContain('Blocked by the active policy')
  const version = String(shown.policy_conflict?.version)
  const refused = await byHand('approve', id, '--now')
  expect(refused.code).not.toBe(0)
  expect(refused.output).toContain(`--acknowledge-policy ${version}`)
  const approved = await byHand('approve', id, '--now', '--acknowledge-policy', version)
  expect(approved.code, approved.output).toBe(0)
  expect(await json<Shown>('inbox', 'show', id)).toMatchObject({ status: 'approved' })
})
