import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { startTestApp } from './app.ts'
import { createTestDatabase } from './databases.ts'
import { hangingTool } from './crash/hanging-tool.ts'

const ready = z.object({ url: z.string(), owner: z.string() })
const answer = z.object({ output: z.looseObject({}) })

/** A daemon in a process of its own, with a tool that begins and never ends. */
async function startProcess(state: string, log: string, storage: string | undefined) {
  const script = join(import.meta.dirname, 'crash', 'hanging-daemon.ts')
  const args = [script, state, log, ...(storage === undefined ? [] : [storage])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { ...ready.parse(JSON.parse(line.toString())), child }
}

async function call(url: string, tool: string, args: object, token: string) {
  const reply = await fetch(`${url}/api/tools/${tool}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  })
  return z.looseObject({}).parse(await reply.json())
}

const outputOf = (response: unknown) => answer.parse(response).output

test.each([
  ['SQLite', () => Promise.resolve(undefined)],
  ['PostgreSQL', () => createTestDatabase(inject('postgresUrl'))],
] as const)(
  'A15 RA5 an approved call whose daemon is killed before its result is unknown, and not run again, on %s',
  async (_, database) => {
    const state = mkdtempSync(join(tmpdir(), 'cowork-killed-'))
    const log = join(state, 'began')
    const storage = await database()
    const { url, owner, child } = await startProcess(state, log, storage)
    const token = String(
      outputOf(await call(url, 'cowork_add_agent', { id: 'sales' }, owner))['token'],
    )
    const asked = await call(url, 'crm_hang', { id: 'a' }, token)
    const id = z.object({ approval_id: z.string() }).parse(asked['error'] ?? asked).approval_id
    await call(url, 'cowork_decide', { approval_ids: [id], decision: 'approve' }, owner)
    const began = () => {
      try {
        return readFileSync(log, 'utf8')
      } catch {
        return ''
      }
    }
    await expect.poll(began).toBe('a\n')
    child.kill('SIGKILL')
    await once(child, 'exit')

    // The lease of the one that died is over in PostgreSQL, which others could have shared.
    const now = () => Date.now() + 61_000
    const app = await startTestApp(storage === undefined ? {} : { 'storage.url': storage }, {
      state,
      now,
      fixture: { tools: [hangingTool(log)], features: [], tasks: noTasks },
    })
    onTestFinished(() => app.close())
    const checked = outputOf(
      await call(app.url, 'cowork_check_approval', { approval_id: id, wait_seconds: 25 }, token),
    )
    expect(checked).toMatchObject({
      status: 'consumed',
      result: { status: 'failed', code: 'outcome_unknown' },
      message: expect.stringMatching(/^OUTCOME UNKNOWN: .*Check its effects before you ask again/),
    })
    const repeated = JSON.stringify(await call(app.url, 'crm_hang', { id: 'a' }, token))
    expect(repeated).toContain('outcome_unknown')
    const lost = async () => {
      const reply = await fetch(`${app.url}/api/ledger?limit=1000&type=approval.unknown`, {
        headers: { authorization: `Bearer ${app.owner}` },
      })
      return JSON.stringify(await reply.json())
    }
    await expect.poll(lost).toContain(id)
    expect(began()).toBe('a\n')
  },
)

const noTasks = {
  get: () => Promise.resolve(undefined),
  update: () => Promise.resolve(false),
  cancel: () => Promise.resolve(false),
}
