import type { Manifest } from '#base/module.ts'
import { identityConfig } from './config.ts'
import { identityErrors } from './errors.ts'

export const identityManifest = {
  name: 'identity',
  errors: identityErrors,
  config: identityConfig,
  entries: {
    'agent.added': 'an agent was added',
    'agent.changed': 'the tools of an agent were changed',
    'agent.rotated': 'the token of an agent was rotated',
    'agent.revoked': 'an agent was revoked',
    'person.invited': 'a person was invited',
    'invitation.withdrawn': 'an invitation was withdrawn',
    'person.joined': 'an invited person joined',
    'role.changed': 'the role of a person was changed',
    'person.removed': 'a person was removed',
    'link.made': 'a sign-in link was created',
    'session.opened': 'a person signed in',
    'session.ended': 'a session ended',
    'passkey.added': 'a person added a passkey',
    'passkey.asserted': 'a person confirmed an action with a passkey',
    'passkey.refused': 'a passkey confirmation was refused',
    'passkey.removed': 'a passkey was removed',
    'auth.failed': 'a credential was refused; many failures share an entry',
  },
  load: () => import('./module.ts'),
} as const satisfies Manifest
