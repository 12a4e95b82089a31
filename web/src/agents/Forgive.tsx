import { forgivenText, riskWords } from './class-standing.ts'
import type { ClassStanding } from './class-standing.ts'
import type { Standing } from './standing.ts'
import { call } from '../api/client.ts'
import { TextArea, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { plainString } from '../shared/plain.ts'
import { refreshTrust } from './agent-queries.ts'

type Props = { standing: Standing; given: ClassStanding; onClose: () => void }

/** Clears strikes and debt of one class of risk, with a reason (T16). */
export function Forgive({ standing: { agent_id: agent, domain }, given, onClose }: Props) {
  const reason = useField()
  const { risk, credit } = given
  const said = reason.value.trim()
  return (
    <FormDialog
      title="Forgive"
      action="Forgive"
      isFit={said !== ''}
      act={() => call('cowork_forgive', { agent_id: agent, domain, risk, reason: said })}
      done={`Forgave ${plainString(agent)} in ${plainString(domain)}.`}
      onDone={() => {
        onClose()
        return refreshTrust(agent, domain)
      }}
      onClose={onClose}
    >
      <p className="text-soft">
        <Plain text={agent} /> in <Plain text={domain} />, {riskWords[risk].toLowerCase()}.
      </p>
      <Note tone="suggest" icon="info">
        Clears {forgivenText(given)}. Right actions that it still needs:{' '}
        {credit.needed - Math.max(0, credit.now)}.
      </Note>
      <TextArea
        label="Reason"
        hint="For whoever asks later. It stands in the ledger."
        rows={2}
        required
        maxLength={2000}
        data-autofocus
        {...reason}
      />
    </FormDialog>
  )
}
