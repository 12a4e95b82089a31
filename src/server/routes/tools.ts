import { Hono } from 'hono'
import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { refuseBy } from '../guards.ts'
import type { Env } from '../guards.ts'
import type { HttpDeps } from '../http.ts'
import { readJson } from '../limits.ts'

const callBody = z.strictObject({ arguments: z.record(z.string(), z.unknown()).default({}) })

/** The people's way to call a tool: the same dispatch, another door. */
export function toolRoutes({ dispatch, bodyBytes }: HttpDeps): Hono<Env> {
  const routes = new Hono<Env>()
  routes.post('/:name/call', async (c) => {
    const body = callBody.safeParse(await readJson(c.req.raw, bodyBytes))
    if (!body.success)
      throw new CoworkError('invalid_input', 'The body is not {"arguments": {…}}.', {
        hint: 'Put what the tool takes under "arguments".',
      })
    const answer = await dispatch({
      tool: c.req.param('name'),
      arguments: body.data.arguments,
      caller: c.get('caller'),
      signal: c.req.raw.signal,
    })
    return answer.status === 'done'
      ? c.json({ call: answer.call, output: answer.output })
      : refuseBy(c, answer)
  })
  return routes
}
