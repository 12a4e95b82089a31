import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { PermissionInput, Detail, Item } from '../approval.ts'
import { formatAllowance, parseAllowForm, isExact, toPatterns } from '../permission.ts'
import type { AllowForm } from '../permission.ts'
import { Dialog, DialogForm } from '../../shared/Dialog.tsx'
import { TextArea, TextField } from '../../shared/Field.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { QueryContent, Note } from '../../shared/States.tsx'
import { describeHidden, sanitizeText } from '../../shared/sanitize.ts'
import { useNow } from '../../shared/use-now.ts'
import { approvalQuery } from '../approval-queries.ts'
import type { DecisionForm } from '../use-actions.ts'

const durations: readonly { value: PermissionInput['for']; name: string }[] = [
  { value: 'once', name: 'Once' },
  { value: 'uses', name: 'Number of uses' },
  { value: 'session', name: 'This session' },
  { value: 'until', name: 'Until…' },
  { value: 'always', name: 'Always' },
]

/** Creates a standing permission. It starts with “once”; a wider one is always a choice (Y8). */
export function AllowDialog({ item, ...sending }: DecisionForm & { item: Item }) {
  const query = useQuery(approvalQuery(item.id))
  return (
    <Dialog title="Allow matching calls" onClose={sending.onClose} wide>
      <QueryContent query={query} what="the call" rows={3}>
        {(detail) => <AllowFields detail={detail} {...sending} />}
      </QueryContent>
    </Dialog>
  )
}

function AllowFields({ detail, send, onClose }: DecisionForm & { detail: Detail }) {
  const [exact] = useState(() => toPatterns(detail.change))
  const [form, setForm] = useState<AllowForm>({
    for: 'once',
    uses: '10',
    until: '',
    patterns: exact,
  })
  const parsed = parseAllowForm(form, exact, useNow())
  const set = (part: Partial<AllowForm>) => setForm((before) => ({ ...before, ...part }))
  const isWide = form.for !== 'once'
  return (
    <DialogForm
      action={isWide ? 'Allow' : 'Approve once'}
      isFit={'allow' in parsed}
      act={() => send([detail], { decision: 'approve', ...('allow' in parsed && parsed) })}
      onClose={onClose}
    >
      <DurationFields form={form} hasSession={detail.session !== null} onChange={set} />
      {isWide && Object.keys(exact).length > 0 && (
        <Patterns exact={exact} form={form} onChange={set} />
      )}
      <Note tone={form.for === 'always' ? 'escalate' : isWide ? 'suggest' : 'plain'} icon="info">
        <SafeText as="b" text={detail.requester} /> may call{' '}
        <SafeText as="b" text={detail.action} />{' '}
        {isExact(form.patterns, exact) ? 'with exactly these arguments' : 'with matching arguments'}{' '}
        {formatAllowance(form)}
        {isWide && ', without approval. Pending equal calls run now'}.
      </Note>
      {'lacks' in parsed && <p className="text-escalate">{parsed.lacks}</p>}
    </DialogForm>
  )
}

type FormProps = { form: AllowForm; onChange: (part: Partial<AllowForm>) => void }

function DurationFields({ form, hasSession, onChange }: FormProps & { hasSession: boolean }) {
  const name = useId()
  return (
    <fieldset className="grid gap-0.5">
      <legend className="pb-1 text-xs font-semibold text-soft">Duration</legend>
      {durations.map(({ value, name: label }) => (
        <div key={value} className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1">
          <label className="flex items-center gap-2.5 has-disabled:text-faint">
            <input
              type="radio"
              name={name}
              className="accent-(--accent)"
              checked={form.for === value}
              disabled={value === 'session' && !hasSession}
              onChange={() => onChange({ for: value })}
              {...(value === 'once' && { 'data-autofocus': true })}
            />
            {label}
            {value === 'session' && !hasSession && ' (no session)'}
          </label>
          {value === 'uses' && form.for === 'uses' && (
            <InlineInput
              label="Uses"
              type="number"
              value={form.uses}
              onChange={(uses) => onChange({ uses })}
            />
          )}
          {value === 'until' && form.for === 'until' && (
            <InlineInput
              label="Until"
              type="datetime-local"
              value={form.until}
              onChange={(until) => onChange({ until })}
            />
          )}
        </div>
      ))}
    </fieldset>
  )
}

type SmallProps = {
  label: string
  type: 'number' | 'datetime-local'
  value: string
  onChange: (value: string) => void
}

const InlineInput = ({ label, type, value, onChange }: SmallProps) => (
  <input
    aria-label={label}
    type={type}
    min={type === 'number' ? 1 : undefined}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    className="h-8.5 w-auto rounded border border-edge bg-panel px-2.5 max-md:h-11 max-md:text-[16px]"
  />
)

const Patterns = ({
  exact,
  form,
  onChange,
}: FormProps & { exact: Readonly<Record<string, string>> }) => (
  <fieldset className="grid gap-3">
    <legend className="pb-1 text-xs font-semibold text-soft">
      Arguments (* matches any text in a changed value)
    </legend>
    {Object.entries(exact).map(([name, value]) => {
      const now = form.patterns[name] ?? ''
      const common = {
        label: sanitizeText(name),
        spellCheck: false,
        autoCapitalize: 'off',
        value: now,
        hint: describeHidden(now) ?? (now === value ? undefined : 'Also matches other calls.'),
      }
      const set = (text: string) => onChange({ patterns: { ...form.patterns, [name]: text } })
      return value.includes('\n') ? (
        <TextArea key={name} {...common} rows={3} onChange={(event) => set(event.target.value)} />
      ) : (
        <TextField key={name} {...common} onChange={(event) => set(event.target.value)} />
      )
    })}
  </fieldset>
)
