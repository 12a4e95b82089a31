import { useState } from 'react'
import { severities } from '#base/override.ts'
import type { Severity } from '#base/override.ts'
import type { Check, Decision, Item } from '../approval.ts'
import { answerWords, faultTypes } from '../check.ts'
import type { FaultType } from '../check.ts'
import { overrideWords, severityWords } from '../text.ts'
import { Choices, TextArea, useField } from '../../shared/Field.tsx'
import { FormDialog } from '../../shared/Dialog.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { Note } from '../../shared/States.tsx'
import { TypeLine } from './DenyDialog.tsx'

type Props = {
  item: Item
  faults: Check['faults']
  send: (decision: Decision) => Promise<void>
  onClose: () => void
}

/** What was wrong and how bad, with what follows from it before it is said (T14). */
export function WrongDialog({ item, faults, send, onClose }: Props) {
  const [type, setType] = useState<FaultType>('agent_wrong')
  const [severity, setSeverity] = useState<Severity>('medium')
  const text = useField()
  const said = text.value.trim()
  const follows = faults.find((fault) => fault.type === type && fault.severity === severity)?.text
  const byNumber = (key: string) => {
    const chosen = faultTypes[Number(key) - 1]
    if (chosen) setType(chosen)
  }
  return (
    <FormDialog
      title={answerWords.wrong}
      action={answerWords.wrong}
      tone="danger"
      act={() =>
        send({
          decision: 'reject',
          ...(said !== '' && { reason: said }),
          override: { type, severity, ...(said !== '' && { description: said }) },
        })
      }
      onClose={onClose}
    >
      <Plain as="p" className="text-soft" text={item.summary} />
      <fieldset>
        <legend className="pb-1 text-xs font-semibold text-soft">Why</legend>
        {faultTypes.map((each, at) => (
          <TypeLine
            key={each}
            {...overrideWords[each]}
            number={at + 1}
            isOn={type === each}
            isFirst={at === 0}
            onChoose={() => setType(each)}
            onNumber={byNumber}
          />
        ))}
      </fieldset>
      <Choices
        label="Severity"
        value={severity}
        choices={severities.map((value) => ({ value, label: severityWords[value] }))}
        onChoose={setSeverity}
      />
      {follows !== undefined && (
        <div role="status">
          <Note tone="escalate" icon="warn">
            <Plain text={follows} />
          </Note>
        </div>
      )}
      <TextArea
        label="What should have happened"
        hint="The agent reads it. You may leave it empty."
        rows={3}
        maxLength={2000}
        {...text}
      />
    </FormDialog>
  )
}
