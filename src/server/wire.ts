import * as z from 'zod'

const health = z.object({ ok: z.boolean(), why: z.string().optional() })

const schema = z.record(z.string(), z.unknown())
const listedTool = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  effect: z.enum(['read', 'write', 'destructive']),
  by: z.enum(['agent', 'human', 'anyone']),
  toolset: z.string(),
  role: z.enum(['owner', 'reviewer', 'viewer']),
  inputSchema: schema,
  outputSchema: schema.optional(),
})
export type ListedTool = z.output<typeof listedTool>

export const serverAnswers = {
  'GET /healthz': health,
  'GET /readyz': health,
  'GET /api/openapi.json': schema,
  'GET /api/tools': z.array(listedTool),
  'POST /api/tools/{name}/call': z.object({
    call: z.string(),
    output: z.unknown(),
    notes: z.array(z.string()).optional(),
    earlier: z
      .looseObject({ approval_id: z.string() })
      .optional()
      .describe('The call already ran under this approval and was not repeated'),
  }),
}
