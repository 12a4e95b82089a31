import { useId, useState } from 'react'
import { describeSetTrust, formatForgiveness, riskLabels } from './class-standing.ts'
import type { TrustStanding } from './trust-rows.ts'
import { call } from '../api/client.ts'
import { modeForScore } from '../inbox/approval.ts'
import { formatScore } from '../inbox/text.ts'
import { TextArea, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/Dialog.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Note } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { TrustChange } from '../inbox/item/TrustChange.tsx'
import { refreshTrust } from './agent-queries.ts'
import type { ClassStanding } from './class-standing.ts'

/** Sets a score with a reason and shows the consequence first (T16). */
export function SetTrust({ standing, onClose }: { standing: TrustStanding; onClose: () => void }) {
  const { agent_id: agent, domain, trust_level: from, thresholds } = standing
  const [text, setText] = useState(formatScore(from))
  const reason = useField()
  const reasonText = reason.value.trim()
  const to = Number(text)
  const isFit = text.trim() !== '' && to >= 0 && to <= 1
  return (
    <FormDialog
      title="Set trust"
      action="Set trust"
      isFit={isFit && reasonText !== ''}
      act={() =>
        call('cowork_set_trust', { agent_id: agent, domain, score: to, reason: reasonText })
      }
      done={`Set trust of ${sanitizeText(agent)} in ${sanitizeText(domain)} to ${formatScore(to)}.`}
      onDone={() => {
        onClose()
        return refreshTrust(agent, domain)
      }}
      onClose={onClose}
    >
      <p className="text-soft">
        <SafeText text={agent} /> in <SafeText text={domain} />. Credit does not change.
      </p>
      <Scale text={text} value={isFit ? to : from} onText={setText} />
      {isFit && (
        <>
          {to !== from && <TrustChange from={from} to={to} thresholds={thresholds} />}
          <Consequence standing={standing} to={to} />
        </>
      )}
      <TextArea
        label="Reason"
        hint="Recorded in the ledger."
        rows={2}
        required
        maxLength={2000}
        {...reason}
      />
    </FormDialog>
  )
}

type ScaleProps = { text: string; value: number; onText: (text: string) => void }

function Scale({ text, value, onText }: ScaleProps) {
  const id = useId()
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-xs font-semibold text-soft">
        Trust, from 0 to 1
      </label>
      <div className="flex items-center gap-3">
        <input
          id={id}
          type="number"
          min={0}
          max={1}
          step="any"
          inputMode="decimal"
          data-autofocus
          value={text}
          onChange={(event) => onText(event.target.value)}
          className="h-8.5 w-24 rounded border border-edge bg-panel px-2.5 max-md:h-11 max-md:text-[16px]"
        />
        <input
          type="range"
          aria-label="Trust"
          min={0}
          max={1}
          step={0.01}
          value={value}
          onChange={(event) => onText(formatScore(Number(event.target.value)))}
          className="h-6 min-w-0 flex-1 accent-(--accent)"
        />
      </div>
    </div>
  )
}

type ConsequenceProps = { standing: TrustStanding; to: number }

function Consequence({ standing: { thresholds, classes }, to }: ConsequenceProps) {
  const mode = modeForScore(to, thresholds)
  return (
    <Note tone={mode} icon={mode === 'act' ? 'warn' : 'info'}>
      {describeSetTrust(to, thresholds, classes)}
    </Note>
  )
}

type ForgiveProps = { standing: TrustStanding; given: ClassStanding; onClose: () => void }

/** Clears strikes and debt of one class of risk, with a reason (T16). */
export function Forgive({ standing: { agent_id: agent, domain }, given, onClose }: ForgiveProps) {
  const reason = useField()
  const { risk, credit } = given
  const reasonText = reason.value.trim()
  return (
    <FormDialog
      title="Forgive"
      action="Forgive"
      isFit={reasonText !== ''}
      act={() => call('cowork_forgive', { agent_id: agent, domain, risk, reason: reasonText })}
      done={`Forgave ${sanitizeText(agent)} in ${sanitizeText(domain)}.`}
      onDone={() => {
        onClose()
        return refreshTrust(agent, domain)
      }}
      onClose={onClose}
    >
      <p className="text-soft">
        <SafeText text={agent} /> in <SafeText text={domain} />, {riskLabels[risk].toLowerCase()}.
      </p>
      <Note tone="suggest" icon="info">
        Clears {formatForgiveness(given)}. Correct actions still needed:{' '}
        {credit.needed - Math.max(0, credit.now)}.
      </Note>
      <TextArea
        label="Reason"
        hint="Recorded in the ledger."
        rows={2}
        required
        maxLength={2000}
        data-autofocus
        {...reason}
      />
    </FormDialog>
  )
}
