import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { haltScope } from './halt.ts'
import type { Halts } from './halt.ts'

const scope = z
  .string()
  .regex(
    haltScope,
    'must be all, agent:<id>, domain:<name> or server:<name>, and the name without white space at its ends',
  )
  .default('all')
  .describe('What to stop: all, agent:<id>, domain:<name> or server:<name>')

export const haltTools = (halts: Halts): Tool[] => [
  defineTool({
    name: 'cowork_halt',
    title: 'Halt',
    description:
      'Refuse all new calls of agents, or those of one agent, domain or server, until resumed.',
    toolset: 'cowork',
    effect: 'write',
    by: 'human',
    idempotent: true,
    input: z.object({ scope, reason: z.string().max(500).default('') }),
    output: z.object({ scope: z.string(), reason: z.string(), by: z.string(), at: z.string() }),
    change: (tx, input, call) => halts.set(tx, call, input.scope, input.reason),
  }),
  defineTool({
    name: 'cowork_resume',
    title: 'Resume',
    description: 'Lift a halt.',
    toolset: 'cowork',
    effect: 'write',
    by: 'human',
    input: z.object({ scope }),
    output: z.object({ scope: z.string(), resumed: z.boolean() }),
    async change(tx, input, call) {
      await halts.lift(tx, call, input.scope)
      return { scope: input.scope, resumed: true }
    },
  }),
]
