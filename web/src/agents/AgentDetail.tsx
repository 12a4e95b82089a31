import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeSelection } from '#base/selection-fields.ts'
import { listFilters } from './trust-rows.ts'
import type { AgentFilters, TrustStanding } from './trust-rows.ts'
import { buttonClass } from '../shared/Button.tsx'
import { LevelChip } from '../shared/Chips.tsx'
import { CloseLink } from '../shared/CloseLink.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EmptyState, Loading, Note } from '../shared/States.tsx'
import { agentsQuery, pairQueryKey } from './agent-queries.ts'
import { entryNoun } from '../api/entry.ts'
import { useRefetch } from '../api/use-entries.ts'
import { useFocusOnOpen } from '../shared/use-focus-on-open.ts'
import { useTitle } from '../shared/use-title.ts'
import { AgentActions, HaltedNote } from './AgentActions.tsx'
import { Classes } from './Classes.tsx'
import { Permissions } from './Permissions.tsx'
import { Reviews } from './Reviews.tsx'
import { TrustHistory } from './TrustHistory.tsx'
import { formatScore } from '../inbox/text.ts'

const nouns = new Set(['approval', 'override', 'trust', 'proposal', 'look_back'])

type Props = {
  agent: string
  filters: AgentFilters
  /** All domains of the agent; undefined while loading. */
  mine: readonly TrustStanding[] | undefined
  standing: TrustStanding | undefined
}

export function AgentDetail({ agent, filters, mine, standing }: Props) {
  const domain = standing?.domain
  const known = useQuery(agentsQuery).data
  const registered = known?.find(({ id }) => id === agent)
  const isUnknown = mine?.length === 0 && known !== undefined && !registered
  useRefetch((entry) => entry.domain === domain && nouns.has(entryNoun(entry)), {
    queryKey: pairQueryKey(agent, domain ?? ''),
  })
  useTitle(agent, 'Agents')
  return (
    <section
      aria-label="Agent"
      className="scroll-thin flex min-w-0 flex-1 flex-col overflow-y-auto [scroll-padding-block:48px_80px]"
    >
      <header className="sticky top-0 z-10 flex h-12 shrink-0 items-center border-b border-line bg-bg px-1 md:hidden">
        <CloseLink
          to="/agents"
          search={listFilters(filters)}
          label="Back to the list"
          icon="back"
        />
      </header>
      <article className="grid w-full max-w-195 gap-5 px-7 pt-5.5 pb-7 max-md:px-4">
        <div className="grid gap-1">
          <Heading agent={agent} filters={filters} standing={standing} />
          {registered && (
            <p className="text-soft break-words">Tools: {describeSelection(registered)}</p>
          )}
        </div>
        {mine && mine.length > 1 && <Domains mine={mine} standing={standing} filters={filters} />}
        <HaltedNote agent={agent} />
        {standing ? (
          <>
            <TrustNote standing={standing} />
            <Classes standing={standing} />
            <TrustHistory standing={standing} filters={filters} />
            <Reviews standing={standing} filters={filters} />
          </>
        ) : isUnknown ? (
          <EmptyState icon="search" title="Agent not found">
            <Link to="/agents" className={buttonClass()}>
              Show all
            </Link>
          </EmptyState>
        ) : mine ? (
          <EmptyState icon="decision" title="No activity yet">
            <p>Trust starts with the first proposal or call in a domain.</p>
          </EmptyState>
        ) : (
          <Loading what="the agent" />
        )}
        {!isUnknown && <Permissions agent={agent} />}
      </article>
      {!isUnknown && <AgentActions agent={agent} standing={standing} />}
    </section>
  )
}

type HeadingProps = { agent: string; filters: AgentFilters; standing: TrustStanding | undefined }

function Heading({ agent, filters, standing }: HeadingProps) {
  const ref = useFocusOnOpen()
  return (
    <header className="flex items-start gap-3">
      <h2
        ref={ref}
        tabIndex={-1}
        className="min-w-0 flex-1 text-lg font-[620] tracking-[-.01em] break-words outline-none"
      >
        <SafeText text={agent} />
        {standing && (
          <span className="font-normal text-soft">
            {' '}
            in <SafeText text={standing.domain} />
          </span>
        )}
      </h2>
      <CloseLink
        to="/agents"
        search={listFilters(filters)}
        label="Close"
        icon="cross"
        className="max-md:hidden"
      />
    </header>
  )
}

type DomainsProps = {
  mine: readonly TrustStanding[]
  standing: TrustStanding | undefined
  filters: AgentFilters
}

const Domains = ({ mine, standing, filters }: DomainsProps) => (
  <nav
    aria-label="Domains"
    className="scroll-thin -my-1 flex gap-1.5 overflow-x-auto py-1 [scrollbar-width:none]"
  >
    {mine
      .toSorted((a, b) => a.domain.localeCompare(b.domain))
      .map((it) => {
        const isOn = it.domain === standing?.domain
        return (
          <Link
            key={it.domain}
            to="."
            search={{ ...filters, domain: it.domain }}
            replace
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={isOn ? 'page' : undefined}
            className={`flex h-7 shrink-0 items-center gap-1.5 rounded-full border pr-1.5 pl-2.5 text-xs max-md:h-9 ${
              isOn ? 'border-text' : 'border-line text-soft hover:border-edge'
            }`}
          >
            <SafeText text={it.domain} />
            <LevelChip mode={it.mode} trust={it.trust_level} />
          </Link>
        )
      })}
  </nav>
)

const modeTexts = {
  act: 'Acts without approval unless a rule requires it. A sample is reviewed afterwards.',
  suggest: 'A person approves every action in advance.',
  escalate: 'A person approves every action in advance, with urgent priority.',
}

const TrustNote = ({ standing: it }: { standing: TrustStanding }) => (
  <Note
    tone={it.mode}
    icon={it.mode === 'act' ? 'act' : it.mode === 'suggest' ? 'info' : 'escalate'}
  >
    <p>
      <b>Trust {formatScore(it.trust_level)}.</b>{' '}
      {it.gated
        ? 'Trust is high enough, but the gate is closed: a person approves every action in advance.'
        : modeTexts[it.mode]}
    </p>
    <p className="text-xs text-soft">{formatReviews(it)}</p>
  </Note>
)

function formatReviews({
  approvals,
  overrides,
  consecutive_overrides: streak,
  decay_days: idleDays,
}: TrustStanding) {
  const reviewCount = approvals + overrides
  return [
    reviewCount === 0
      ? 'No reviews in this domain'
      : `${approvals} of ${reviewCount} ${reviewCount === 1 ? 'review' : 'reviews'} approved`,
    streak > 1 && `last ${streak} overridden`,
    idleDays > 0 && `idle for ${idleDays === 1 ? '1 day' : `${idleDays} days`}, trust decayed`,
  ]
    .filter(Boolean)
    .join(', ')
}
