import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { parseJson } from '../inbox/change.ts'
import { formatScore } from '../inbox/text.ts'
import type { SimulatedOutcome, Outcome } from './policy.ts'
import { toTextIssues } from './review.ts'
import { Button } from '../shared/Button.tsx'
import { ErrorNote } from '../shared/States.tsx'
import { SelectField, TextArea, TextField } from '../shared/Field.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { toastProblem } from '../shared/toast.ts'
import { approvalQuery } from '../inbox/approval-queries.ts'
import { recentQuery } from './policy-queries.ts'
import { Chip, ModeChip } from '../shared/Chips.tsx'

type Form = { readonly agent: string; readonly domain: string; readonly change: string }
const empty: Form = { agent: '', domain: '', change: '{\n  "deal_stage": "closed_won"\n}' }

/** Simulates one proposal with the active policies and with the draft. */
export function TryProposal({ text, isFit }: { text: string; isFit: boolean }) {
  const recent = useQuery(recentQuery).data ?? []
  const [form, setForm] = useState(empty)
  const [chosen, setChosen] = useState('')
  const change = parseJson(form.change)
  const simulation = useMutation({
    mutationFn: (proposed: unknown) =>
      call('cowork_simulate_policy', {
        body: text,
        proposal: { agent_id: form.agent, domain: form.domain, proposed_change: proposed },
      }),
  })
  const problems = toTextIssues(simulation.error, text)
  const set = (part: Partial<Form>) => {
    setForm((before) => ({ ...before, ...part }))
    simulation.reset()
  }
  const choose = async (id: string) => {
    setChosen(id)
    const item = recent.find((each) => each.id === id)
    if (!item) return
    try {
      const detail = await queryClient.fetchQuery(approvalQuery(id))
      set({
        agent: item.requester,
        domain: item.domain,
        change: JSON.stringify(detail.change, null, 2),
      })
    } catch (error) {
      toastProblem(error)
    }
  }
  return (
    <Section title="Simulate a proposal">
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if ('value' in change) simulation.mutate(change.value)
        }}
      >
        {recent.length > 0 && (
          <SelectField
            label="Template"
            value={chosen}
            choices={[
              { value: '', label: 'None' },
              ...recent.map(({ id, requester, summary }) => ({
                value: id,
                label: sanitizeText(`${requester}: ${summary}`).slice(0, 90),
              })),
            ]}
            onChange={(event) => void choose(event.target.value)}
          />
        )}
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <TextField
            label="Agent"
            required
            spellCheck={false}
            autoCapitalize="off"
            value={form.agent}
            onChange={(event) => set({ agent: event.target.value })}
          />
          <TextField
            label="Domain"
            required
            spellCheck={false}
            autoCapitalize="off"
            value={form.domain}
            onChange={(event) => set({ domain: event.target.value })}
          />
        </div>
        <TextArea
          label="Change (JSON)"
          hint={'problem' in change ? change.problem : undefined}
          rows={5}
          spellCheck={false}
          autoCapitalize="off"
          className="font-mono text-code"
          value={form.change}
          onChange={(event) => set({ change: event.target.value })}
        />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" disabled={!isFit || 'problem' in change || simulation.isPending}>
            Run simulation
          </Button>
          {problems && (
            <p role="alert" className="text-escalate">
              Invalid policies. Select Simulate to list the problems.
            </p>
          )}
        </div>
        {!problems && <ErrorNote error={simulation.error} />}
      </form>
      {simulation.data && (
        <div
          role="status"
          className="grid grid-cols-2 gap-4 border-t border-line pt-3 max-sm:grid-cols-1"
        >
          {simulation.data.before && <Side name="Active" judged={simulation.data.before} />}
          {simulation.data.after && <Side name="Draft" judged={simulation.data.after} />}
        </div>
      )}
    </Section>
  )
}

function Side({ name, judged }: { name: string; judged: SimulatedOutcome }) {
  const { mode, policy_id: id, violations, high_risk_fields: risky, approvers } = judged
  return (
    <div className="grid content-start gap-1">
      <p className="flex items-center gap-2">
        <span className="text-xs font-semibold text-faint">{name}</span>
        <OutcomeChip outcome={mode} />
      </p>
      <ul className="text-xs text-soft">
        <li>
          {id === null ? (
            'no matching policy'
          ) : (
            <>
              policy <SafeText text={id} />
            </>
          )}
          , trust {formatScore(judged.trust_level)}
        </li>
        {risky.length > 0 && (
          <li>
            high risk: <SafeText text={risky.join(', ')} />
          </li>
        )}
        {approvers > 1 && <li>{approvers} approvals required</li>}
        {violations.map(({ rule_id: rule, field, reason }) => (
          <li key={`${rule} ${field}`}>
            <SafeText text={field} />: <SafeText text={reason} />
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The simulated outcome: a mode, or blocked. */
export const OutcomeChip = ({ outcome }: { outcome: Outcome }) =>
  outcome === 'blocked' ? (
    <Chip tone="escalate" icon="stop">
      Blocked
    </Chip>
  ) : (
    <ModeChip mode={outcome} />
  )
