import { appendFileSync } from 'node:fs'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'

/** A tool that records its start and never ends. */
export const hangingTool = (log: string) =>
  defineTool({
    name: 'crm_hang',
    title: 'Hang',
    description: 'For tests',
    toolset: 'crm',
    effect: 'write',
    by: 'agent',
    input: z.object({ id: z.string() }),
    output: z.object({}),
    describeTarget: ({ id }) => ({ domain: 'crm', target: id }),
    run({ id }) {
      appendFileSync(log, `${id}\n`)
      return new Promise<never>(() => undefined)
    },
  })
