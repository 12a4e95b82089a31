import type { SuggestNames } from '#approvals'
import type { Governance } from '#governance'
import type { Identity } from '#identity'
import type { Ledger } from '#ledger'
import { guardingModules } from './modules.ts'

type Deps = {
  readonly governance: Pick<Governance, 'store' | 'db' | 'policies'>
  readonly identity: Pick<Identity, 'listAgents'>
  readonly ledger: Pick<Ledger, 'find'>
}

/**
 * Returns the known names if this one is unknown, otherwise undefined. A name is known if it is
 * registered, trusted, mapped or in the ledger (A9). A typo must not look like a successful halt.
 */
export const knownNames =
  ({ governance, identity, ledger }: Deps): SuggestNames =>
  async (kind, name) => {
    // The indexed lookup comes first: agents can create any number of pairs, and a halt must not
    // wait for them.
    const [entry] = await ledger.find({
      ...(kind === 'agent' ? { actor: name } : { domain: name }),
      limit: 1,
    })
    if (entry) return undefined
    const pairs = await governance.store.all(governance.db, {})
    const { mappings } = governance.policies()
    const names =
      kind === 'agent'
        ? [
            ...(await identity.listAgents()).map(({ id }) => id),
            ...pairs.map(({ agent }) => agent),
            ...mappings.map((mapping) => mapping.agent_id),
          ]
        : [
            'cowork',
            ...guardingModules,
            ...pairs.map(({ domain }) => domain),
            ...mappings.map(({ domain }) => domain),
          ]
    // A wildcard in a mapping is not a name.
    const exact = [...new Set(names)].filter((known) => !known.includes('*'))
    return exact.includes(name) ? undefined : exact
  }
