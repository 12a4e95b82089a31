import { useQuery } from '@tanstack/react-query'
import type { PolicyList, Mapping } from './policy.ts'
import { isPattern, buildMatrix } from './matrix.ts'
import { Icon } from '../shared/Icon.tsx'
import { textLink } from '../shared/Button.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { Note } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { entryNoun } from '../api/entry.ts'
import { useRefetch } from '../api/use-entries.ts'
import { standingsQuery } from '../agents/agent-queries.ts'

/** The policy of each agent and domain. Once a mapping exists, no policy means blocked (Y4). */
export function MatrixTable({ listed: { mappings } }: { listed: PolicyList }) {
  const { data: standings = [] } = useQuery(standingsQuery)
  useRefetch((entry) => entryNoun(entry) === 'trust', standingsQuery)
  // Mappings approved in the inbox block no other agents.
  if (!mappings.some(({ source }) => source === 'config'))
    return (
      <Section title="Mappings">
        <Note tone="plain" icon="info">
          No mappings: agents can propose in every domain and no rule applies. With the first
          mapping, unmapped agents are blocked.
        </Note>
      </Section>
    )
  const { agents, domains, at } = buildMatrix(
    mappings,
    standings.map(({ agent_id: agent, domain }) => ({ agent, domain })),
  )
  return (
    <Section title="Mappings" says="* matches any text; without a policy, an agent is blocked">
      <HorizontalScroll label="Policies by agent and domain">
        <table className="border-collapse text-left">
          <caption className="sr-only">Policy of each agent in each domain</caption>
          <thead>
            <tr>
              <th className="sticky left-0 bg-bg py-1 pr-4 text-xs font-semibold text-faint">
                Agent
              </th>
              {domains.map((domain) => (
                <th
                  key={domain}
                  scope="col"
                  className="min-w-28 px-3 py-1 font-mono text-xs font-normal whitespace-nowrap text-soft"
                >
                  <SafeText text={domain} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent}>
                <th
                  scope="row"
                  className={`sticky left-0 max-w-45 truncate border-t border-line bg-bg py-1.5 pr-4 font-[550] max-md:max-w-28 ${isPattern(agent) ? 'text-soft' : ''}`}
                  title={sanitizeText(agent)}
                >
                  <SafeText text={agent} />
                </th>
                {domains.map((domain) => (
                  <Cell key={domain} mapping={at(agent, domain)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </HorizontalScroll>
    </Section>
  )
}

function Cell({ mapping }: { mapping: Mapping | undefined }) {
  if (!mapping)
    return (
      <td className="border-t border-l border-line px-3 py-1.5">
        <span className="flex items-center gap-1.5 text-xs text-faint">
          <Icon name="stop" size={12} />
          Blocked
        </span>
      </td>
    )
  const { policy_id: id, agent_id: agent, domain, source } = mapping
  const by = source === 'approved' ? 'allowed in the inbox' : `by ${agent} in ${domain}`
  return (
    <td
      className="border-t border-l border-line px-3 py-1.5 whitespace-nowrap"
      title={sanitizeText(by)}
    >
      <a href={`#policy-${encodeURIComponent(id)}`} className={textLink}>
        <SafeText text={id} />
      </a>
      {source === 'approved' && <span className="block text-xs text-soft">from the inbox</span>}
    </td>
  )
}
