import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Detail, Item } from '../approval.ts'
import { changeLines, toEditableFields, parseJson, parseFieldValue } from '../change.ts'
import type { EditableField } from '../change.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog, DialogForm } from '../../shared/Dialog.tsx'
import { SelectField, TextArea, TextField } from '../../shared/Field.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { QueryContent } from '../../shared/States.tsx'
import { describeHidden, sanitizeText } from '../../shared/sanitize.ts'
import { approvalQuery } from '../approval-queries.ts'
import { DiffLines } from '../item/DiffLines.tsx'
import type { DecisionForm } from '../use-actions.ts'

/** Approves a changed request; the agent receives the approved content (B3). */
export function EditDialog({ item, ...sending }: DecisionForm & { item: Item }) {
  const query = useQuery(approvalQuery(item.id))
  return (
    <Dialog title="Edit and approve" onClose={sending.onClose} wide>
      <SafeText as="p" className="text-soft" text={item.summary} />
      <QueryContent query={query} what="the change" rows={3}>
        {(detail) => <Editor detail={detail} {...sending} />}
      </QueryContent>
    </Dialog>
  )
}

type ReadResult = { value: unknown } | { problem: string }

function Editor({ detail, send, onClose }: DecisionForm & { detail: Detail }) {
  const { change } = detail
  const fields = toEditableFields(change)
  const [isJson, setIsJson] = useState(fields === undefined)
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries((fields ?? []).map(({ name, value }) => [name, String(value ?? '')])),
  )
  const [json, setJson] = useState(() => JSON.stringify(change, null, 2))

  const result: ReadResult = isJson || !fields ? parseJson(json) : readFields(fields, texts)
  const edited = 'value' in result ? result.value : undefined
  const isChanged = 'value' in result && JSON.stringify(edited) !== JSON.stringify(change)
  return (
    <DialogForm
      action="Approve change"
      isFit={isChanged}
      act={() => send([detail], { decision: 'approve', change: edited })}
      onClose={onClose}
      aside={
        fields && (
          <Button
            tone="quiet"
            className="mr-auto"
            onClick={() => {
              if (!isJson && 'value' in result) setJson(JSON.stringify(edited, null, 2))
              setIsJson(!isJson)
            }}
          >
            {isJson ? 'Edit fields' : 'Edit as JSON'}
          </Button>
        )
      }
    >
      {isJson || !fields ? (
        <TextArea
          label="JSON"
          hint={describeHidden(json)}
          rows={Math.min(16, json.split('\n').length + 1)}
          spellCheck={false}
          autoCapitalize="off"
          data-autofocus
          className="font-mono text-code"
          value={json}
          onChange={(event) => setJson(event.target.value)}
        />
      ) : (
        fields.map((field, at) => (
          <FieldInput
            key={field.name}
            field={field}
            isFirst={at === 0}
            text={texts[field.name] ?? ''}
            onText={(text) => setTexts((all) => ({ ...all, [field.name]: text }))}
          />
        ))
      )}
      <div role="status" className="grid min-h-5.5 gap-1">
        {'problem' in result ? (
          <p className="text-escalate">{result.problem}</p>
        ) : isChanged ? (
          <DiffLines label="Your changes" lines={changeLines(change, edited)} />
        ) : (
          <p className="text-faint">No changes</p>
        )}
      </div>
    </DialogForm>
  )
}

function readFields(
  fields: readonly EditableField[],
  texts: Readonly<Record<string, string>>,
): ReadResult {
  const value: Record<string, EditableField['value']> = {}
  for (const { name, value: was } of fields) {
    const now = parseFieldValue(was, texts[name] ?? '')
    if (now === undefined) return { problem: `${sanitizeText(name)} must be a number.` }
    value[name] = now
  }
  return { value }
}

type FieldProps = {
  field: EditableField
  text: string
  isFirst: boolean
  onText: (text: string) => void
}

function FieldInput({ field: { name, value }, text, isFirst, onText }: FieldProps) {
  const common = {
    label: sanitizeText(name),
    value: text,
    hint: describeHidden(text),
    ...(isFirst && { 'data-autofocus': true }),
  }
  if (typeof value === 'boolean')
    return (
      <SelectField
        {...common}
        choices={[
          { value: 'true', label: 'true' },
          { value: 'false', label: 'false' },
        ]}
        onChange={(event) => onText(event.target.value)}
      />
    )
  if (typeof value === 'string' && (value.includes('\n') || value.length > 80))
    return <TextArea {...common} rows={4} onChange={(event) => onText(event.target.value)} />
  return (
    <TextField
      {...common}
      inputMode={typeof value === 'number' ? 'decimal' : 'text'}
      onChange={(event) => onText(event.target.value)}
    />
  )
}
