import { useId, useState } from 'react'
import type { ComponentProps, ReactNode } from 'react'

const inputClass =
  'h-8.5 w-full min-w-0 rounded border border-edge bg-panel px-2.5 text-text disabled:opacity-60 max-md:h-11 max-md:text-[16px]'

type Common = { label: string; hint?: ReactNode }

function Labelled({ id, label, hint, children }: Common & { id: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-1">
      <label htmlFor={id} className="text-xs font-semibold text-soft">
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** Returns the props that bind a field to its text. */
export function useField(initial = '') {
  const [value, setValue] = useState(initial)
  return { value, onChange: (event: { target: { value: string } }) => setValue(event.target.value) }
}

/** Returns the props of form fields and their initial values. */
export function useDraft<Draft extends Readonly<Record<string, string>>>(initial: () => Draft) {
  const [from] = useState(initial)
  const [draft, setDraft] = useState(from)
  const field = (name: keyof Draft) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) =>
      setDraft({ ...draft, [name]: event.target.value }),
  })
  return { from, draft, field }
}

const describedBy = (id: string, hint: ReactNode) => (hint ? `${id}-hint` : undefined)

export function TextField({ label, hint, ...rest }: Common & ComponentProps<'input'>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint}>
      <input
        id={id}
        autoComplete="off"
        aria-describedby={describedBy(id, hint)}
        className={inputClass}
        {...rest}
      />
    </Labelled>
  )
}

export function TextArea({
  label,
  hint,
  className = '',
  ...rest
}: Common & ComponentProps<'textarea'>) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint}>
      <textarea
        id={id}
        autoComplete="off"
        aria-describedby={describedBy(id, hint)}
        className={`scroll-thin w-full min-w-0 rounded border border-edge bg-panel px-2.5 py-1.5 text-text max-md:text-[16px] ${className}`}
        {...rest}
      />
    </Labelled>
  )
}

type Choice = { value: string; label: string }
type SelectProps = Common & { choices: readonly Choice[] } & ComponentProps<'select'>

export function SelectField({ label, hint, choices, ...rest }: SelectProps) {
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint}>
      <select id={id} aria-describedby={describedBy(id, hint)} className={inputClass} {...rest}>
        {choices.map(({ value, label: name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

export function RadioGroup<T extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string
  value: T
  choices: readonly { value: T; label: string }[]
  onChoose: (value: T) => void
}) {
  const name = useId()
  return (
    <fieldset className="inline-flex rounded border border-line bg-panel p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <label
          key={choice.value}
          className="rounded-sm px-3 py-1 text-soft select-none has-checked:bg-raised has-checked:font-[550] has-checked:text-text has-focus-visible:outline-2 has-focus-visible:outline-accent max-md:py-2.5"
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={choice.value === value}
            onChange={() => onChoose(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  )
}
