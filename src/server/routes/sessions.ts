import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import { sessionEnd } from '#identity'
import type { Identity, Person, Session } from '#identity'
import { addressOf } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

const time = z.iso.datetime()
const person = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(['owner', 'reviewer', 'viewer']),
})
const session = z.object({ id: z.string(), person, created_at: time, expires_at: time })

/** How a person comes in by a link, sees who they are, and leaves (I6). */
export const sessionRoutes = ({
  identity,
  command,
  home,
}: {
  readonly identity: Identity
  readonly command?: readonly string[]
  readonly home?: string
}): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/api/sessions',
    summary: 'Opens a session with the code of a one-time link or an invitation',
    by: 'all',
    body: z.strictObject({ code: z.string().min(1) }),
    status: 201,
    answer: z.object({ token: z.string().describe('Shown once'), session }),
    async run({ body: { code } }, c) {
      const userAgent = c.req.header('user-agent') ?? 'unknown'
      const opened = await identity.people.signIn({ code, address: addressOf(c), userAgent })
      return { token: opened.token, session: toSession(opened.session, opened.person) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/session',
    summary: 'Who is calling, and from which session',
    by: 'human',
    answer: z.object({
      person,
      session: session.optional().describe("Absent for the owner's token, which is none"),
      has_passkey: z.boolean(),
      assured_until: time.optional().describe('High-risk decisions are open to it until then'),
      command: z
        .array(z.string())
        .optional()
        .describe('For the owner: the words that run `cowork` in a terminal of this machine'),
      home: z.string().optional().describe('The home of whoever runs the daemon'),
    }),
    async run(_, c) {
      const caller = c.get('caller')
      const me = await identity.people.me(caller)
      const assuredUntil = identity.passkeys.assuredUntil(caller.session)
      return {
        person: toPerson(me.person),
        ...(me.session && { session: toSession(me.session, me.person) }),
        has_passkey: await identity.passkeys.has(me.person.id),
        ...(assuredUntil !== undefined && { assured_until: rfc3339(assuredUntil) }),
        ...(me.person.role === 'owner' && command && { command: [...command] }),
        ...(home !== undefined && { home }),
      }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/session',
    summary: 'Signs out',
    by: 'human',
    answer: z.object({ ended: z.boolean() }),
    async run(_, c) {
      await identity.people.signOut(c.get('caller'))
      return { ended: true }
    },
  }),
]

const toPerson = ({ id, name, role }: Person) => ({ id, name, role })

const toSession = (one: Session, whose: Person) => ({
  id: one.id,
  person: toPerson(whose),
  created_at: rfc3339(one.createdAt),
  expires_at: rfc3339(sessionEnd(one)),
})
