import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { overrideTypes, severities } from '#base/override.ts'
import { isFinding, needsOverride } from '../approval.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Item } from '../approval.ts'
import { overrideLabels, rejectLabel, severityLabels } from '../text.ts'
import { RadioGroup, TextArea, useField } from '../../shared/Field.tsx'
import { FormDialog } from '../../shared/Dialog.tsx'
import { KeyHint } from '../../shared/Keys.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { approvalQuery } from '../approval-queries.ts'
import { TrustChange } from '../item/TrustChange.tsx'
import type { DecisionForm } from '../use-actions.ts'

/** Rejects items; items that affect trust need an override type (B4, T4). */
export function RejectDialog({ items, send, onClose }: DecisionForm & { items: readonly Item[] }) {
  const affectsTrust = items.some(needsOverride)
  const [type, setType] = useState<OverrideType>()
  const [severity, setSeverity] = useState<Severity>('medium')
  const text = useField()
  const reason = text.value.trim()
  const [first] = items
  const title = items.length > 1 || !first ? `Reject ${items.length}` : rejectLabel(first)
  const reject = () =>
    send(items, {
      decision: 'reject',
      ...(reason !== '' && { reason }),
      ...(type && {
        override: { type, severity, ...(reason !== '' && { description: reason }) },
      }),
    })
  return (
    <FormDialog
      title={title}
      action={title}
      tone="danger"
      isFit={!affectsTrust || type !== undefined}
      act={reject}
      onClose={onClose}
    >
      <About items={items} />
      {!items.every(isFinding) && (
        <OverrideFields
          items={items}
          isNeeded={affectsTrust}
          type={type}
          severity={severity}
          onType={setType}
          onSeverity={setSeverity}
        />
      )}
      <TextArea
        label={affectsTrust ? 'Correct action' : 'Reason'}
        hint={`Optional. ${items.every(isFinding) ? 'Recorded in the ledger.' : 'Visible to the agent.'}`}
        rows={3}
        maxLength={2000}
        {...text}
      />
    </FormDialog>
  )
}

function About({ items }: { items: readonly Item[] }) {
  const [only] = items
  if (items.length === 1 && only)
    return <SafeText as="p" className="text-soft" text={only.summary} />
  const judged = items.filter(needsOverride).length
  return (
    <p className="text-soft">
      One decision, recorded per item.
      {judged < items.length &&
        judged > 0 &&
        ` Lowers trust for ${judged}; the others are rejected without a trust change.`}
    </p>
  )
}

type KindProps = {
  items: readonly Item[]
  isNeeded: boolean
  type: OverrideType | undefined
  severity: Severity
  onType: (type: OverrideType | undefined) => void
  onSeverity: (severity: Severity) => void
}

/** The type and severity of an override, with the trust change (T4). */
export const OverrideFields = (props: KindProps) => (
  <>
    <OverrideTypes
      legend={props.isNeeded ? 'Why' : 'Optional: mark the agent as wrong. This lowers its trust.'}
      types={overrideTypes}
      type={props.type}
      onChoose={props.onType}
      {...(!props.isNeeded && { onNone: () => props.onType(undefined) })}
    />
    {props.type && (
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <SeverityChoices value={props.severity} onChoose={props.onSeverity} />
        <TrustEffect items={props.items} type={props.type} severity={props.severity} />
      </div>
    )}
  </>
)

type SeverityProps = { value: Severity; onChoose: (severity: Severity) => void }

export const SeverityChoices = (props: SeverityProps) => (
  <RadioGroup
    label="Severity"
    choices={severities.map((value) => ({ value, label: severityLabels[value] }))}
    {...props}
  />
)

type TypesProps<Type extends OverrideType> = {
  legend: string
  types: readonly Type[]
  type: Type | undefined
  onChoose: (type: Type) => void
  /** Adds the choice of no type. */
  onNone?: () => void
}

/** The override types; number keys select them. */
export function OverrideTypes<Type extends OverrideType>(props: TypesProps<Type>) {
  const { legend, types, type, onChoose, onNone } = props
  const byNumber = (key: string) => {
    const chosen = types[Number(key) - 1]
    if (chosen) onChoose(chosen)
  }
  const none = { name: 'No', means: 'Trust unchanged.', isOn: !type, number: undefined }
  const lines = [
    ...(onNone ? [{ ...none, choose: onNone }] : []),
    ...types.map((each, at) => ({
      ...overrideLabels[each],
      isOn: type === each,
      number: at + 1,
      choose: () => onChoose(each),
    })),
  ]
  return (
    <fieldset>
      <legend className="pb-1 text-xs font-semibold text-soft">{legend}</legend>
      {lines.map(({ name, means, isOn, number, choose }, at) => (
        <label
          key={name}
          className="-mx-2 flex items-center gap-2.5 rounded px-2 py-1 has-checked:bg-accent-bg has-focus-visible:outline-2 has-focus-visible:outline-accent hover:bg-raised max-md:py-2"
        >
          <input
            type="radio"
            name="override"
            className="accent-(--accent) outline-none"
            checked={isOn}
            onChange={choose}
            onKeyDown={(event) => byNumber(event.key)}
            {...(at === 0 && { 'data-autofocus': true })}
          />
          <span className="font-[550]">{name}</span>
          <span className="min-w-0 flex-1 text-xs text-soft">{means}</span>
          {number !== undefined && (
            <span className="max-md:hidden">
              <KeyHint combo={String(number)} />
            </span>
          )}
        </label>
      ))}
    </fieldset>
  )
}

type CostProps = { items: readonly Item[]; type: OverrideType; severity: Severity }

function TrustEffect({ items, type, severity }: CostProps) {
  const [only] = items
  const { data } = useQuery({ ...approvalQuery(only?.id ?? ''), enabled: items.length === 1 })
  const to = data?.effect.overrides.find(
    (one) => one.type === type && one.severity === severity,
  )?.to
  if (!data || to === undefined) return null
  const from = data.effect.approve?.from ?? data.why.trust_level ?? data.trust_level
  return <TrustChange from={from} to={to} thresholds={data.why.thresholds} />
}
