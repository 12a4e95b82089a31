import type { GrantRequest, Item } from '../approval.ts'
import { grantChoices } from '../grant.ts'
import { Plain } from '../../shared/Plain.tsx'
import { Section } from '../../shared/Section.tsx'
import { toastProblem } from '../../shared/toast.ts'
import type { Acts } from '../use-acts.ts'

type Props = { item: Item; grant: GrantRequest; acts: Acts }

/** All that can be allowed, the narrowest first, each with what it opens; none of them has the focus (C2, GR3). */
export const GrantChoices = ({ item, grant, acts }: Props) => {
  const choices = grantChoices(grant)
  if (choices.length === 0) return null
  return (
    <Section title="What you can allow">
      {!grant.is_folder && grant.folder !== null && (
        <p className="text-soft">What else lies in its folder was not looked at.</p>
      )}
      <ul aria-label="What you can allow" className="border-t border-line">
        {choices.map(({ choice, label, opens, path, also, lasts }) => (
          <li key={choice} className="border-b border-line">
            <button
              type="button"
              disabled={acts.isBusy}
              onClick={() =>
                choice === 'until'
                  ? acts.begin('until', [item])
                  : void acts
                      .send([item], { decision: 'approve', grant: { choice } })
                      .catch(toastProblem)
              }
              className="grid w-full grid-cols-[200px_minmax(0,1fr)] items-baseline gap-x-3 px-2 py-1.5 text-left -outline-offset-2 hover:bg-raised disabled:opacity-50 max-md:grid-cols-1 max-md:py-2.5"
            >
              <span className="font-[550]">{label}</span>
              <span className="text-xs text-soft">
                {opens}{' '}
                <span className="font-mono break-all">
                  <Plain text={path} />
                </span>
                {also} {lasts}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}
