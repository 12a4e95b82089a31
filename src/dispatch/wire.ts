import * as z from 'zod'

export const dispatchResults = {
  cowork_find_tools: z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        input_schema: z.record(z.string(), z.unknown()),
      }),
    ),
    others: z.array(z.string()).describe('Names of the other tools you can use'),
    message: z.string(),
  }),
  cowork_use: z.unknown(),
}
