import type { Detail, Rule, Why as Reasons } from '../approval.ts'
import { emphasised, score } from '../text.ts'
import { Plain } from '../../shared/Plain.tsx'
import { Note } from '../../shared/States.tsx'

const icons = { act: 'info', suggest: 'info', escalate: 'escalate' } as const

/** Why a person is asked, before everything else: rule, policy, trust against threshold (A8). */
export function Why({ detail: { why, mode } }: { detail: Detail }) {
  const names = [...why.high_risk_fields, ...(why.policy_id === null ? [] : [why.policy_id])]
  return (
    <section aria-label="Why am I asked">
      <Note tone={mode} icon={icons[mode]}>
        <p>
          {emphasised(why.text, names).map(({ text, isName }, at) =>
            isName ? (
              // The parts of a sentence never move.
              // oxlint-disable-next-line react/no-array-index-key
              <Plain key={at} as="b" text={text} />
            ) : (
              // oxlint-disable-next-line react/no-array-index-key
              <Plain key={at} text={text} />
            ),
          )}
        </p>
        <dl className="mt-1.5 grid grid-cols-[64px_minmax(0,1fr)] gap-x-3 text-xs text-soft">
          <Trust why={why} />
          {why.policy_id !== null && (
            <Reason name="Policy">
              <Plain text={why.policy_id} />
              {why.policy_description && (
                <>
                  : <Plain text={why.policy_description} />
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
      {score(trust)}; supervised from {score(thresholds.suggest)}, autonomous from{' '}
      {score(thresholds.act)}
    </Reason>
  )
}

const RuleLine = ({ rule }: { rule: Rule }) => (
  <Reason name="Rule">
    <Plain text={rule.rule_id} /> on <Plain text={rule.field} />
    {rule.reason && (
      <>
        : <Plain text={rule.reason} />
      </>
    )}
  </Reason>
)
