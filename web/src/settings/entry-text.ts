import type { Entry } from '../api/entry.ts'
import { aside, field, said, spaced, word } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

const role = (entry: Entry) => {
  const given = field(entry, 'role')
  return typeof given === 'string' ? ['as', given] : []
}

const sessionEndTexts: Record<string, string> = {
  signed_out: 'Signed out',
  revoked: 'Revoked a session',
  person_removed: 'Ended the sessions of a removed person',
}

const failedLogin: Sentence = (entry) => {
  const count = field(entry, 'count')
  return [
    typeof count === 'number' && count > 1 ? `${count} failed sign-ins` : 'Failed sign-in',
    'from',
    said(entry.subject ?? 'an unknown address'),
    ...aside(spaced(entry.outcome)),
  ]
}

export const entryText: EntryText = {
  kinds: {
    agent: 'agent',
    person: 'person',
    invitation: 'person',
    role: 'person',
    passkey: 'access',
    session: 'access',
    link: 'access',
    auth: 'access',
  },
  sentences: {
    'agent.added': (e) => ['Added agent', said(e.subject)],
    'agent.changed': (e) => ['Changed the tools of agent', said(e.subject)],
    'agent.rotated': (e) => ['Rotated the token of agent', said(e.subject)],
    'agent.revoked': (e) => ['Revoked agent', said(e.subject)],
    'person.invited': (e) => ['Invited', word(e, 'name') ?? said(e.subject), ...role(e)],
    'person.joined': (e) => [word(e, 'name') ?? said(e.subject), 'joined', ...role(e)],
    'person.removed': (e) => ['Removed', word(e, 'name') ?? said(e.subject)],
    'role.changed': (e) => ['Made', said(e.subject), 'a', word(e, 'to')],
    'invitation.withdrawn': (e) => ['Withdrew the invitation of', word(e, 'name')],
    'passkey.added': (e) => ['Added passkey', word(e, 'name')],
    'passkey.removed': (e) => ['Removed passkey', word(e, 'name')],
    'passkey.asserted': () => ['Confirmed with a passkey'],
    'passkey.refused': () => ['Refused a copied passkey'],
    'session.opened': () => ['Signed in'],
    'session.ended': (e) => [sessionEndTexts[String(field(e, 'reason'))] ?? 'Session ended'],
    'link.made': (e) => ['Created a sign-in link for', said(e.subject)],
    'auth.failed': failedLogin,
  },
}
