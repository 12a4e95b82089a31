// Tools of other servers and of the daemon's own, as far as what is decided about them goes.
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { acting } from './tools.ts'

export type Effect = 'read' | 'write' | 'destructive'

/** A tool that does something outside the store, and counts how often it did. */
export function actingTool(toolset: string, effect: Effect, name = `${toolset}_${effect}`) {
  const runs: unknown[] = []
  const tool: Tool = defineTool({
    name,
    title: `To ${effect}`,
    description: 'For tests',
    toolset,
    by: 'anyone',
    input: z.object({
      path: z.string(),
      text: z.string().default('nothing'),
      fail: z.boolean().optional(),
    }),
    output: z.object({ done: z.string() }),
    describeTarget: ({ path }) => ({ domain: toolset, target: path }),
    ...acting(effect, async (input: { path: string; fail?: boolean | undefined }) => {
      runs.push(input)
      if (input.fail) throw new CoworkError('disk_full', 'There is no room.')
      return { done: input.path }
    }),
  })
  return { tool, runs }
}

/** The same for one that changes the store alone. */
export const storingTool = (toolset: string, name = `${toolset}_store`): Tool =>
  defineTool({
    name,
    title: 'To store',
    description: 'For tests',
    toolset,
    effect: 'write',
    by: 'anyone',
    input: z.object({ path: z.string() }),
    output: z.object({ stored: z.string() }),
    describeTarget: ({ path }) => ({ domain: toolset, target: path }),
    async transact(tx, { path }) {
      tx.append({ type: 'thing.stored', actor: { kind: 'system', id: 'test' }, subject: path })
      return { stored: path }
    },
  })
