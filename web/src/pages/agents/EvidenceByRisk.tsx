import { levelText, risks } from '../../agents/standing.ts'
import type { Standing } from '../../agents/standing.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Meter } from '../../parts/Meter.tsx'
import { Section } from '../../parts/Section.tsx'

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Reviews as evidence, apart for each class of risk: easy wins buy nothing in risky acts (T13). */
export const EvidenceByRisk = ({ standing }: { standing: Standing }) => (
  <Section title="Evidence" says="how sure reviews make us that it is right 95 times in 100">
    <table className="w-full text-left [&_td]:border-t [&_td]:border-line [&_td]:py-1.5 [&_td]:pr-3 [&_th]:pr-3">
      <thead className="text-xs text-faint">
        <tr>
          <th className="font-semibold">Risk</th>
          <th className="font-semibold">Evidence</th>
          <th className="font-semibold max-sm:hidden">Good</th>
          <th className="font-semibold max-sm:hidden">Bad</th>
          <th className="font-semibold">Alone</th>
        </tr>
      </thead>
      <tbody>
        {risks.map((risk) => {
          const { approvals, overrides, evidence_level: level, gated } = standing.by_risk[risk]
          return (
            <tr key={risk}>
              <td>{risk}</td>
              <td>
                <span className="flex items-center gap-2">
                  {levelText(level)}
                  <Meter
                    value={level}
                    tone={gated ? 'plain' : 'act'}
                    className="w-24 max-sm:w-14"
                  />
                </span>
              </td>
              <td className="max-sm:hidden">{number.format(approvals)}</td>
              <td className="max-sm:hidden">{number.format(overrides)}</td>
              <td className={gated ? 'text-soft' : 'text-act'}>
                <span className="flex items-center gap-1.5">
                  <Icon name={gated ? 'eye' : 'check'} size={14} />
                  {gated ? 'not yet' : 'enough'}
                </span>
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </Section>
)
