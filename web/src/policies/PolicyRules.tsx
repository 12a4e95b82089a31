import { Fragment, useId } from 'react'
import type { Mapping, Policy, Rule } from './policy.ts'
import { effectOf, sentenceOf } from './sentence.ts'
import type { RuleEffect } from './sentence.ts'
import { Chip } from '../shared/Chips.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'

const effects: Record<
  RuleEffect,
  { word: string; tone: 'escalate' | 'suggest' | 'plain'; icon: IconName }
> = {
  blocks: { word: 'blocks', tone: 'escalate', icon: 'stop' },
  asks: { word: 'asks a person', tone: 'suggest', icon: 'suggest' },
  counts: { word: 'counts only', tone: 'plain', icon: 'eye' },
}

type Props = { policy: Policy; mappings: readonly Mapping[] }

/** One rule set: what it demands, what breaking it does, and whom it binds. */
export function PolicyRules({ policy, mappings }: Props) {
  const { id, description, mode, rules = [], reasoning_schema: schema } = policy
  const heading = useId()
  const used = mappings.filter(({ policy_id: policyId }) => policyId === id)
  return (
    <section id={`policy-${id}`} aria-labelledby={heading} className="grid gap-1.5">
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
        <h2 id={heading} className="text-md font-semibold">
          <Plain text={id} />
        </h2>
        {mode === 'shadow' && (
          <Chip tone="accent" icon="eye">
            shadow: says what it would do, and does nothing
          </Chip>
        )}
        {description && (
          <p className="basis-full text-soft">
            <Plain text={description} />
          </p>
        )}
      </header>
      {rules.length > 0 ? (
        <ol className="border-t border-line">
          {rules.map((rule, at) => (
            // The rules of a policy are told apart by their place.
            // oxlint-disable-next-line react/no-array-index-key
            <RuleLine key={at} rule={rule} />
          ))}
        </ol>
      ) : (
        <p className="border-y border-line py-2 text-soft">No rules: trust alone decides.</p>
      )}
      <p className="text-xs text-soft">
        {schema !== undefined && (
          <>
            Asks for reasoning as in <Plain text={schema} />.{' '}
          </>
        )}
        {used.length === 0 ? 'Nobody works under it.' : <Users used={used} />}
      </p>
    </section>
  )
}

function RuleLine({ rule }: { rule: Rule }) {
  const { word, tone, icon } = effects[effectOf(rule)]
  return (
    <li className="grid grid-cols-[128px_minmax(0,1fr)] gap-x-3 border-b border-line py-2 max-sm:grid-cols-1 max-sm:gap-y-1">
      <span className="flex h-5 items-center">
        <Chip tone={tone} icon={icon}>
          {word}
        </Chip>
      </span>
      <p className="min-w-0 break-words">
        {sentenceOf(rule).map((part, at) => (
          // The parts of a sentence never move.
          // oxlint-disable-next-line react/no-array-index-key
          <Fragment key={at}>
            {at > 0 && !(typeof part === 'string' && part.startsWith(',')) && ' '}
            {typeof part === 'string' ? (
              part
            ) : part.isCode ? (
              <code className="rounded-sm bg-raised px-1 font-mono text-code break-all">
                <Plain text={part.said} />
              </code>
            ) : (
              <b>
                <Plain text={part.said} />
              </b>
            )}
          </Fragment>
        ))}
        .
        {rule.reason && (
          <span className="text-soft">
            {' '}
            <Plain text={rule.reason} />
          </span>
        )}
      </p>
    </li>
  )
}

const mostUsers = 6

function Users({ used }: { used: readonly Mapping[] }) {
  const more = used.length - mostUsers
  return (
    <>
      Binds{' '}
      {used.slice(0, mostUsers).map(({ agent_id: agent, domain }, at) => (
        <Fragment key={`${agent} ${domain}`}>
          {at > 0 && ', '}
          <b className="text-text">
            <Plain text={agent} />
          </b>{' '}
          in <Plain text={domain} />
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  )
}
