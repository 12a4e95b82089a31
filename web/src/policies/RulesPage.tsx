import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, useId } from 'react'
import type { PolicyList, Policy, Mapping, Rule } from './policy.ts'
import { buttonClass } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EmptyState, QueryContent } from '../shared/States.tsx'
import { policiesQuery } from './policy-queries.ts'
import { formatAgo, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { MatrixTable } from './MatrixTable.tsx'
import { getRuleEffect, formatRule } from './sentence.ts'
import type { RuleEffect } from './sentence.ts'
import { Chip } from '../shared/Chips.tsx'
import type { IconName } from '../shared/Icon.tsx'

export function RulesPage() {
  const query = useQuery(policiesQuery)
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      <QueryContent query={query} what="policies" rows={8}>
        {(data) =>
          data.body.policies.length > 0 || data.mappings.length > 0 ? (
            <Rules listed={data} />
          ) : (
            <NoRules />
          )
        }
      </QueryContent>
    </div>
  )
}

const Rules = ({ listed }: { listed: PolicyList }) => (
  <div className="grid gap-7 px-7 pt-5 pb-12 max-md:px-4">
    <ActiveVersion listed={listed} />
    <section aria-label="Rule sets" className="grid max-w-195 gap-6">
      {/* The API returns the rules as written; the daemon has validated them. */}
      {(listed.body.policies as Policy[]).map((policy) => (
        <PolicyRules key={policy.id} policy={policy} mappings={listed.mappings} />
      ))}
    </section>
    <MatrixTable listed={listed} />
  </div>
)

function ActiveVersion({ listed: { active, version } }: { listed: PolicyList }) {
  const now = useNow()
  const at = active && Date.parse(active.at)
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
      <Icon name="check" className="text-act" />
      <span>
        Active: version <code className="font-mono text-code">{version.slice(0, 8)}</code>
      </span>
      {active && at !== null && (
        <span title={fullTime(at)}>
          {active.source === 'file' ? (
            'from cowork.yaml'
          ) : (
            <>
              saved by <SafeText text={active.by} />
            </>
          )}
          , {formatAgo(at, now)}
        </span>
      )}
      {active?.note && active.source === 'saved' && (
        <span>
          “<SafeText text={active.note} />”
        </span>
      )}
    </p>
  )
}

const NoRules = () => (
  <EmptyState icon="decision" title="No policies">
    <p>
      Agents can propose in every domain, and trust decides. Policies require review or block
      changes.
    </p>
    <Link to="/policies/edit" className={buttonClass('primary')}>
      Write a policy
    </Link>
  </EmptyState>
)

const effects: Record<
  RuleEffect,
  { word: string; tone: 'escalate' | 'suggest' | 'plain'; icon: IconName }
> = {
  blocks: { word: 'Blocks', tone: 'escalate', icon: 'stop' },
  asks: { word: 'Requires review', tone: 'suggest', icon: 'suggest' },
  counts: { word: 'Logs only', tone: 'plain', icon: 'eye' },
}

type Props = { policy: Policy; mappings: readonly Mapping[] }

function PolicyRules({ policy, mappings }: Props) {
  const { id, description, mode, rules = [], reasoning_schema: schema } = policy
  const heading = useId()
  const used = mappings.filter(({ policy_id: policyId }) => policyId === id)
  return (
    <section id={`policy-${id}`} aria-labelledby={heading} className="grid gap-1.5">
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
        <h2 id={heading} className="text-md font-semibold">
          <SafeText text={id} />
        </h2>
        {mode === 'shadow' && (
          <Chip tone="accent" icon="eye">
            Shadow: logs results without enforcing them
          </Chip>
        )}
        {description && <SafeText as="p" className="basis-full text-soft" text={description} />}
      </header>
      {rules.length > 0 ? (
        <ol className="border-t border-line">
          {rules.map((rule, at) => (
            // Rules have no unique id.
            // oxlint-disable-next-line react/no-array-index-key
            <RuleLine key={at} rule={rule} />
          ))}
        </ol>
      ) : (
        <p className="border-y border-line py-2 text-soft">No rules, only trust</p>
      )}
      <p className="text-xs text-soft">
        {schema !== undefined && (
          <>
            Reasoning schema: <SafeText text={schema} />.{' '}
          </>
        )}
        {used.length === 0 ? 'Not mapped to any agent.' : <Users used={used} />}
      </p>
    </section>
  )
}

function RuleLine({ rule }: { rule: Rule }) {
  const { word, tone, icon } = effects[getRuleEffect(rule)]
  return (
    <li className="grid grid-cols-[128px_minmax(0,1fr)] gap-x-3 border-b border-line py-2 max-sm:grid-cols-1 max-sm:gap-y-1">
      <span className="flex h-5 items-center">
        <Chip tone={tone} icon={icon}>
          {word}
        </Chip>
      </span>
      <p className="min-w-0 break-words">
        {formatRule(rule).map((part, at) => (
          // The parts of a sentence never change their order.
          // oxlint-disable-next-line react/no-array-index-key
          <Fragment key={at}>
            {at > 0 && !(typeof part === 'string' && part.startsWith(',')) && ' '}
            {typeof part === 'string' ? (
              part
            ) : part.isCode ? (
              <SafeText
                as="code"
                className="rounded-sm bg-raised px-1 font-mono text-code break-all"
                text={part.text}
              />
            ) : (
              <SafeText as="b" text={part.text} />
            )}
          </Fragment>
        ))}
        .
        {rule.reason && (
          <span className="text-soft">
            {' '}
            <SafeText text={rule.reason} />
          </span>
        )}
      </p>
    </li>
  )
}

const maxShownMappings = 6

function Users({ used }: { used: readonly Mapping[] }) {
  const more = used.length - maxShownMappings
  return (
    <>
      Applies to{' '}
      {used.slice(0, maxShownMappings).map(({ agent_id: agent, domain }, at) => (
        <Fragment key={`${agent} ${domain}`}>
          {at > 0 && ', '}
          <SafeText as="b" className="text-text" text={agent} /> in <SafeText text={domain} />
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  )
}
