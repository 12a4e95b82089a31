import type { Entry } from '../api/entry.ts'
import { addAside, getField, toQuote, toWords, quoteField } from '../shared/sentence.ts'
import type { EntryText, Sentence } from '../shared/sentence.ts'

const role = (entry: Entry) => {
  const given = getField(entry, 'role')
  return typeof given === 'string' ? ['as', given] : []
}

const sessionEndTexts: Record<string, string> = {
  signed_out: 'Signed out',
  revoked: 'Revoked a session',
  person_removed: 'Ended the sessions of a removed person',
}

const failedLogin: Sentence = (entry) => {
  const count = getField(entry, 'count')
  return [
    typeof count === 'number' && count > 1 ? `${count} failed sign-ins` : 'Failed sign-in',
    'from',
    toQuote(entry.subject ?? 'an unknown address'),
    ...addAside(toWords(entry.outcome)),
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
    'agent.added': (e) => ['Added agent', toQuote(e.subject)],
    'agent.changed': (e) => ['Changed the tools of agent', toQuote(e.subject)],
    'agent.rotated': (e) => ['Rotated the token of agent', toQuote(e.subject)],
    'agent.revoked': (e) => ['Revoked agent', toQuote(e.subject)],
    'person.invited': (e) => ['Invited', quoteField(e, 'name') ?? toQuote(e.subject), ...role(e)],
    'person.joined': (e) => [quoteField(e, 'name') ?? toQuote(e.subject), 'joined', ...role(e)],
    'person.removed': (e) => ['Removed', quoteField(e, 'name') ?? toQuote(e.subject)],
    'role.changed': (e) => ['Made', toQuote(e.subject), 'a', quoteField(e, 'to')],
    'invitation.withdrawn': (e) => ['Withdrew the invitation of', quoteField(e, 'name')],
    'passkey.added': (e) => ['Added passkey', quoteField(e, 'name')],
    'passkey.removed': (e) => ['Removed passkey', quoteField(e, 'name')],
    'passkey.asserted': () => ['Confirmed with a passkey'],
    'passkey.refused': () => ['Refused a copied passkey'],
    'session.opened': () => ['Signed in'],
    'session.ended': (e) => [sessionEndTexts[String(getField(e, 'reason'))] ?? 'Session ended'],
    'link.made': (e) => ['Created a sign-in link for', toQuote(e.subject)],
    'auth.failed': failedLogin,
  },
}
