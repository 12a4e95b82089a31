import type { Manifest } from '#base/module.ts'
import { governanceConfig } from './config.ts'
import { governanceErrors } from './errors.ts'

export const governanceManifest = {
  name: 'governance',
  errors: governanceErrors,
  config: governanceConfig,
  entries: {
    'action.logged': 'an agent or a person reported an action with `cowork_log`',
    'proposal.created': 'an agent proposed a change; `approval.…` entries tell its outcome',
    'permission.granted': 'a standing permission was granted',
    'permission.used': 'a standing permission with a limit was used',
    'permission.revoked': 'a standing permission was revoked',
    'permission.redacted': 'an upgrade removed plain arguments from the store',
    'permission.baselined': 'a standing permission from before rows were recorded',
    'trust.created': 'first trust of an agent in a domain',
    'trust.set': 'a person set a trust score',
    'trust.forgiven': 'a person cleared strikes',
    'trust.ended': 'an agent was revoked: its credit ends, its strikes stay',
    'trust.client_seen': 'an agent acted autonomously through a new client',
    'trust.converted': 'an upgrade turned the evidence of a row into credit',
    'trust.baselined': 'a trust row from before rows were recorded',
    'trust_kind.baselined': 'the credit of a kind of action from before rows were recorded',
    'look_back.opened': 'a mistake was found: other autonomous actions are checked',
    'override.recorded': 'a person marked an action as wrong afterwards',
    'handoff.created': 'an agent handed work to a person',
    'handoff.reminded': 'a handoff has no answer yet',
    'handoff.resolved': 'a person answered a handoff',
    'handoff.acknowledged': 'the agent read the answer to its handoff',
    'policy.loaded': 'the policies of `cowork.yaml` became active',
    'policy.saved': 'policies saved by a person became active',
    'mapping.baselined': 'a policy mapping from before rows were recorded',
  },
  load: () => import('./module.ts'),
} as const satisfies Manifest
