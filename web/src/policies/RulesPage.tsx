import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Listed, Policy } from './policy.ts'
import { buttonClass } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Awaited, Empty } from '../shared/States.tsx'
import { policiesQuery } from './policy-queries.ts'
import { ago, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { MatrixTable } from './MatrixTable.tsx'
import { PolicyRules } from './PolicyRules.tsx'

/** The rules in force as sentences, and who works under them. */
export function RulesPage() {
  const query = useQuery(policiesQuery)
  const { data } = query
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      {data ? (
        data.body.policies.length > 0 || data.mappings.length > 0 ? (
          <Rules listed={data} />
        ) : (
          <NoRules />
        )
      ) : (
        <Awaited query={query} what="policies" rows={8} />
      )}
    </div>
  )
}

const Rules = ({ listed }: { listed: Listed }) => (
  <div className="grid gap-7 px-7 pt-5 pb-12 max-md:px-4">
    <InForce listed={listed} />
    <section aria-label="Rule sets" className="grid max-w-195 gap-6">
      {/* The API gives rules as they are written, and the daemon has checked them. */}
      {(listed.body.policies as Policy[]).map((policy) => (
        <PolicyRules key={policy.id} policy={policy} mappings={listed.mappings} />
      ))}
    </section>
    <MatrixTable listed={listed} />
  </div>
)

function InForce({ listed: { active, version } }: { listed: Listed }) {
  const now = useNow()
  const at = active && Date.parse(active.at)
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
      <span className="text-act">
        <Icon name="check" />
      </span>
      <span>
        In force: version <code className="font-mono text-code">{version.slice(0, 8)}</code>
      </span>
      {active && at !== null && (
        <span title={fullTime(at)}>
          {active.source === 'file' ? (
            'from cowork.yaml'
          ) : (
            <>
              saved by <Plain text={active.by} />
            </>
          )}
          , {ago(at, now)}
        </span>
      )}
      {active?.note && active.source === 'saved' && (
        <span>
          “<Plain text={active.note} />”
        </span>
      )}
    </p>
  )
}

const NoRules = () => (
  <Empty icon="decision" title="There is no policy yet">
    <p>
      Every agent may propose everywhere, and trust decides. A policy says which fields a person
      always reviews, and what never happens.
    </p>
    <Link to="/policies/edit" className={buttonClass('primary')}>
      Write one
    </Link>
  </Empty>
)
