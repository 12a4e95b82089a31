import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { sessionExpiresAt } from '#identity'
import type { Identity, Person, Session } from '#identity'
import { identityAnswers } from '#identity/wire.ts'
import { getRemoteAddress } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

/** Serves sign-in by link, the current session and sign-out (I6). */
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
    summary: 'Open a session with the code of a sign-in link or an invitation',
    by: 'all',
    body: z.strictObject({ code: z.string().min(1) }),
    status: 201,
    answer: identityAnswers['POST /api/sessions'],
    async run({ body: { code } }, c) {
      const userAgent = c.req.header('user-agent') ?? 'unknown'
      const opened = await identity.people.signIn({ code, address: getRemoteAddress(c), userAgent })
      return { token: opened.token, session: toSession(opened.session, opened.person) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/session',
    summary: 'The current person and session',
    by: 'human',
    answer: identityAnswers['GET /api/session'],
    async run(_, c) {
      const caller = c.get('caller')
      const me = await identity.people.me(caller)
      const assuredUntil = identity.passkeys.steppedUpUntil(caller.session)
      return {
        person: toPerson(me.person),
        ...(me.session && { session: toSession(me.session, me.person) }),
        has_passkey: await identity.passkeys.has(me.person.id),
        ...(assuredUntil !== undefined && { assured_until: formatRfc3339(assuredUntil) }),
        ...(me.person.role === 'owner' && command && { command: [...command] }),
        ...(home !== undefined && { home }),
      }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/session',
    summary: 'Sign out',
    by: 'human',
    answer: identityAnswers['DELETE /api/session'],
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
  created_at: formatRfc3339(one.createdAt),
  expires_at: formatRfc3339(sessionExpiresAt(one)),
})
