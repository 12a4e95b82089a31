// cowork for N3: the whole system on a free port, with trivial tools added until 60 are listed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { startTestApp } from '../../test/app.ts'

export type OurServer = { readonly port: number }

const added = 50
const text = z.object({ text: z.string() })
const echo = (name: string) =>
  defineTool({
    name,
    title: 'Echo',
    description: 'Returns its input.',
    toolset: 'bench',
    effect: 'read',
    by: 'anyone',
    input: text,
    output: text,
    read: async (input) => input,
  })
const noTasks = {
  get: async () => undefined,
  update: async () => false,
  cancel: async () => false,
}

const state = mkdtempSync(join(tmpdir(), 'cowork-bench-'))
const tools = Array.from({ length: added }, (_, i) => echo(i === 0 ? 'echo' : `echo_${i}`))
const app = await startTestApp({}, { state, fixture: { tools, features: [], tasks: noTasks } })

process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => void app.close().then(() => rmSync(state, { recursive: true })))
process.send?.({ port: app.port } satisfies OurServer)
