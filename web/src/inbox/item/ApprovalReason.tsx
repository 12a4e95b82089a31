import { Link } from '@tanstack/react-router'
import type { Detail, Rule, Why as Reasons, Item, PolicyConflict } from '../approval.ts'
import { splitNames, formatScore } from '../text.ts'
import { SafeText } from '../../shared/SafeText.tsx'
import { Note } from '../../shared/States.tsx'
import { Section } from '../../shared/Section.tsx'

const icons = { act: 'info', suggest: 'info', escalate: 'escalate' } as const

/** Why approval is required: rule, policy, trust against threshold (A8). */
export function ApprovalReason({ detail: { why, mode } }: { detail: Detail }) {
  const names = [...why.high_risk_fields, ...(why.policy_id === null ? [] : [why.policy_id])]
  return (
    <section aria-label="Why approval is required">
      <Note tone={mode} icon={icons[mode]}>
        <p>
          {splitNames(why.text, names).map(({ text, isName }, at) =>
            isName ? (
              // The parts of a sentence never change their order.
              // oxlint-disable-next-line react/no-array-index-key
              <SafeText key={at} as="b" text={text} />
            ) : (
              // oxlint-disable-next-line react/no-array-index-key
              <SafeText key={at} text={text} />
            ),
          )}
        </p>
        <dl className="mt-1.5 grid grid-cols-[64px_minmax(0,1fr)] gap-x-3 text-xs text-soft">
          <Trust why={why} />
          {why.policy_id !== null && (
            <Reason name="Policy">
              <SafeText text={why.policy_id} />
              {why.policy_description && (
                <>
                  : <SafeText text={why.policy_description} />
                </>
              )}{' '}
              <span title={why.policy_version}>(version {why.policy_version.slice(0, 8)})</span>
            </Reason>
          )}
          {why.rules.map((rule) => (
            <RuleLine key={`${rule.rule_id} ${rule.field}`} rule={rule} />
          ))}
        </dl>
      </Note>
    </section>
  )
}

const Reason = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </>
)

function Trust({ why: { trust_level: trust, thresholds } }: { why: Reasons }) {
  if (trust === null) return null
  return (
    <Reason name="Trust">
      {formatScore(trust)}; supervised from {formatScore(thresholds.suggest)}, autonomous from{' '}
      {formatScore(thresholds.act)}
    </Reason>
  )
}

const RuleLine = ({ rule }: { rule: Rule }) => (
  <Reason name="Rule">
    <SafeText text={rule.rule_id} /> on <SafeText text={rule.field} />
    {rule.reason && (
      <>
        : <SafeText text={rule.reason} />
      </>
    )}
  </Reason>
)

/** The banner of a request that the active policy blocks. */
export function ConflictNote({ item }: { item: Item }) {
  if (!item.policy_conflict || item.status !== 'pending') return null
  return (
    <section aria-label="Policy conflict">
      <Note tone="escalate" icon="warn">
        <p>
          <b>Blocked by the active policy</b>
        </p>
        <ConflictText conflict={item.policy_conflict} />
        <p className="mt-1 text-xs text-soft">
          The request is older than this policy version.{' '}
          <Link to="/policies" className="underline underline-offset-3">
            Policies
          </Link>
        </p>
      </Note>
    </section>
  )
}

export function ConflictText({ conflict }: { conflict: PolicyConflict }) {
  const { policy, version, rule, message } = conflict
  return (
    <p>
      {policy !== null && (
        <>
          <SafeText as="b" text={rule === null ? policy : `${policy}, rule ${rule}`} />
          {': '}
        </>
      )}
      <SafeText text={message} />{' '}
      <span className="text-soft" title={version}>
        (version {version.slice(0, 8)})
      </span>
    </p>
  )
}

/** The reasoning of the agent as sanitized text (A13). */
export const Reasoning = ({ text, title = 'Reasoning' }: { text: string | null; title?: string }) =>
  text === null || text === '' ? null : (
    <Section title={title}>
      <blockquote className="border-l-2 border-line pl-3 text-soft">
        <p className="text-xs text-faint">The agent says</p>
        <SafeText as="p" className="break-words whitespace-pre-wrap" text={text} lines />
      </blockquote>
    </Section>
  )
