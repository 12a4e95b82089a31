import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '../service.ts'
import { hashPrefix } from '../token.ts'
import type { PersonWithSessions } from './people-admin.ts'
import { sessionExpiresAt } from './rules.ts'
import type { Invitation, SessionWithPerson } from './rules.ts'
import { identityResults, role } from '../wire.ts'
import type { InvitationResult, PersonResult } from '../wire.ts'

const person = z.string().min(1).max(256).describe('Person id, as in anna-berg')

/** Builds the tools with which people manage people. Only their results contain links. */
export const peopleTools = (identity: Identity): Tool[] => [
  defineTool({
    ...forPeople.write,
    name: 'cowork_open_link',
    title: 'Create a sign-in link',
    description:
      'Create a link that signs you in to the console in another browser or device, once, within 5 minutes.',
    role: 'viewer',
    input: z.object({}),
    output: identityResults.cowork_open_link,
    describeTarget: () => ({ domain: 'cowork' }),
    async transact(tx, _, call) {
      const made = await identity.people.openLink(tx, call)
      return { link: made.link, expires_at: formatRfc3339(made.expiresAt) }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_people',
    title: 'List people',
    description: 'List people with their roles, and open invitations.',
    idempotent: true,
    input: z.object({}),
    output: identityResults.cowork_list_people,
    async read() {
      const { people, invitations } = await identity.people.list()
      return { people: people.map(toPerson), invitations: invitations.map(toInvitation) }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_invite_person',
    title: 'Invite a person',
    description:
      'Create a link with which one person joins with this role within 24 hours. Send the link only to that person.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({ name: z.string().min(1).max(256).describe('Name of the person'), role }),
    output: identityResults.cowork_invite_person,
    describeTarget: (input) => ({ domain: 'cowork', target: input.name.slice(0, 128) }),
    async transact(tx, input, call) {
      const made = await identity.people.invite(tx, input, call)
      return { id: made.id, link: made.link, expires_at: formatRfc3339(made.expiresAt) }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_withdraw_invitation',
    title: 'Withdraw an invitation',
    description: 'Invalidate the link of an invitation.',
    role: 'owner',
    input: z.object({
      invitation: z.string().min(1).max(64).describe('Invitation id from cowork_list_people'),
    }),
    output: identityResults.cowork_withdraw_invitation,
    describeTarget: (input) => ({ domain: 'cowork', target: input.invitation }),
    async transact(tx, input, call) {
      const { name } = await identity.people.withdraw(tx, input.invitation, call)
      return { id: input.invitation, name }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_set_role',
    title: 'Set the role of a person',
    description: 'Change the role of a person, effective with their next call.',
    role: 'owner',
    requiresPasskey: true,
    idempotent: true,
    input: z.object({ person, role }),
    output: identityResults.cowork_set_role,
    describeTarget: (input) => ({ domain: 'cowork', target: input.person }),
    async transact(tx, input, call) {
      const given = { id: input.person, role: input.role }
      const { id, name, role: now } = await identity.people.setRole(tx, given, call)
      return { id, name, role: now }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_remove_person',
    title: 'Remove a person',
    description: 'Remove a person: all sessions and passkeys of the person end immediately.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({ person }),
    output: identityResults.cowork_remove_person,
    describeTarget: (input) => ({ domain: 'cowork', target: input.person }),
    async transact(tx, input, call) {
      const { id, name, removedAt } = await identity.people.remove(tx, input.person, call)
      return { id, name, removed_at: formatRfc3339(removedAt) }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_sessions',
    title: 'List sessions',
    description: 'List your active console sessions; owners see all sessions.',
    idempotent: true,
    input: z.object({}),
    output: identityResults.cowork_list_sessions,
    async read(_, { caller }) {
      const open = await identity.people.listSessions(caller)
      return { sessions: open.map((opened) => toSession(opened, caller.session)) }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_revoke_session',
    title: 'Revoke a session',
    description: 'End one of your sessions immediately; owners may end any session.',
    // A viewer may sign out of another browser.
    role: 'viewer',
    input: z.object({ session: z.string().min(1).max(64).describe('Session id') }),
    output: identityResults.cowork_revoke_session,
    describeTarget: (input) => ({ domain: 'cowork', target: input.session }),
    async transact(tx, input, call) {
      const { id, at } = await identity.people.revokeSession(tx, input.session, call)
      return { id, ended_at: formatRfc3339(at) }
    },
  }),
]

const toPerson = (one: PersonWithSessions): PersonResult => ({
  id: one.id,
  name: one.name,
  role: one.role,
  status: one.removedAt === undefined ? 'active' : 'removed',
  joined_at: formatRfc3339(one.joinedAt),
  ...(one.removedAt !== undefined && { removed_at: formatRfc3339(one.removedAt) }),
  ...(one.lastSeenAt !== undefined && { last_seen_at: formatRfc3339(one.lastSeenAt) }),
  sessions: one.sessions,
})

const toInvitation = (one: Invitation): InvitationResult => ({
  id: hashPrefix(one.hash),
  name: one.name,
  role: one.role,
  invited_by: one.invitedBy,
  created_at: formatRfc3339(one.createdAt),
  expires_at: formatRfc3339(one.expiresAt),
})

const toSession = ({ session, person: whose }: SessionWithPerson, current: string) => ({
  id: session.id,
  person: whose.id,
  name: whose.name,
  user_agent: session.userAgent,
  created_at: formatRfc3339(session.createdAt),
  last_seen_at: formatRfc3339(session.lastSeenAt),
  expires_at: formatRfc3339(sessionExpiresAt(session)),
  current: session.id === current,
})

/** Builds the passkey tools. Browsers register and use passkeys through REST routes instead. */
export const passkeyTools = (identity: Identity): Tool[] => [
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_passkeys',
    title: 'List passkeys',
    description: 'List your passkeys; owners see all passkeys.',
    idempotent: true,
    input: z.object({}),
    output: identityResults.cowork_list_passkeys,
    async read(_, { caller }) {
      const passkeys = await identity.passkeys.list(caller)
      return {
        passkeys: passkeys.map(({ id, person, name, createdAt, lastUsedAt }) => ({
          id,
          person,
          name,
          created_at: formatRfc3339(createdAt),
          ...(lastUsedAt !== undefined && { last_used_at: formatRfc3339(lastUsedAt) }),
        })),
      }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_remove_passkey',
    title: 'Remove a passkey',
    description: 'Remove one of your passkeys; owners may remove any passkey.',
    role: 'viewer',
    requiresPasskey: true,
    input: z.object({ id: z.string().min(1).max(2048).describe('Passkey id') }),
    output: identityResults.cowork_remove_passkey,
    describeTarget: () => ({ domain: 'cowork' }),
    async transact(tx, input, call) {
      const { id, name } = await identity.passkeys.remove(tx, input.id, call)
      return { id, name }
    },
  }),
]
