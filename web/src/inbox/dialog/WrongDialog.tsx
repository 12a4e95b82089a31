import { useState } from 'react'
import type { Severity } from '#base/override.ts'
import type { Check, Decision, Item } from '../approval.ts'
import { answerLabels, errorTypes } from '../check.ts'
import type { ErrorType } from '../check.ts'
import { TextArea, useField } from '../../shared/Field.tsx'
import { FormDialog } from '../../shared/Dialog.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { Note } from '../../shared/States.tsx'
import { OverrideTypes, SeverityChoices } from './RejectDialog.tsx'

type Props = {
  item: Item
  faults: Check['faults']
  send: (decision: Decision) => Promise<void>
  onClose: () => void
}

/** Marks an action as wrong, with type, severity and consequence (T14). */
export function WrongDialog({ item, faults, send, onClose }: Props) {
  const [type, setType] = useState<ErrorType>('agent_wrong')
  const [severity, setSeverity] = useState<Severity>('medium')
  const text = useField()
  const reason = text.value.trim()
  const consequence = faults.find(
    (fault) => fault.type === type && fault.severity === severity,
  )?.text
  return (
    <FormDialog
      title={answerLabels.wrong}
      action={answerLabels.wrong}
      tone="danger"
      act={() =>
        send({
          decision: 'reject',
          ...(reason !== '' && { reason }),
          override: { type, severity, ...(reason !== '' && { description: reason }) },
        })
      }
      onClose={onClose}
    >
      <SafeText as="p" className="text-soft" text={item.summary} />
      <OverrideTypes legend="Why" types={errorTypes} type={type} onChoose={setType} />
      <SeverityChoices value={severity} onChoose={setSeverity} />
      {consequence !== undefined && (
        <div role="status">
          <Note tone="escalate" icon="warn">
            <SafeText text={consequence} />
          </Note>
        </div>
      )}
      <TextArea
        label="Correct action"
        hint="Optional. Visible to the agent."
        rows={3}
        maxLength={2000}
        {...text}
      />
    </FormDialog>
  )
}
