import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, useSyncExternalStore } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { Button } from '../shared/Button.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { Loading, Trouble } from '../shared/States.tsx'
import { hiddenNote } from '../shared/plain.ts'
import { draft } from './draft.ts'
import { example } from './example.ts'
import { problemsOf, review } from './review.ts'
import { readText } from './yaml-text.ts'
import { policiesQuery, textQuery } from './policy-queries.ts'
import { useIsOwner } from '../settings/roles.ts'
import { Problems, YamlEditor } from './YamlEditor.tsx'
import { SavePolicies } from './SavePolicies.tsx'
import { WhatItDoes } from './WhatItDoes.tsx'

export function EditPage() {
  const listed = useQuery(policiesQuery)
  const active = listed.data?.active?.version
  const text = useQuery({ ...textQuery(active ?? ''), enabled: active !== undefined })
  const [asked, setAsked] = useState<string>()
  const error = listed.error ?? text.error
  if (active !== undefined && text.data !== undefined)
    return <Editor key={active} active={active} saved={text.data} asked={asked} onAsk={setAsked} />
  if (error)
    return (
      <Trouble
        error={error}
        retry={() => {
          void listed.refetch()
          if (active !== undefined) void text.refetch()
        }}
      />
    )
  return <Loading what="the policies" rows={8} />
}

const usualDays = 30

type EditorProps = {
  readonly active: string
  readonly saved: string
  /** The text that was last simulated. */
  readonly asked: string | undefined
  readonly onAsk: (text: string) => void
}

function Editor({ active, saved, asked, onAsk }: EditorProps) {
  const written = useSyncExternalStore(draft.subscribe, draft.get)
  const isOwner = useIsOwner()
  const [isSaving, setSaving] = useState(false)
  const text = written?.text ?? saved
  // Of the version in force too: when somebody saves another one, it is asked again.
  const looked = useQuery({
    queryKey: ['review', active, asked],
    queryFn: () => review(asked ?? '', usualDays),
    enabled: asked !== undefined,
  })
  const typed = useMemo(() => readText(text).problems, [text])
  const hidden = hiddenNote(text)
  const isCurrent = asked === text
  const refused = isCurrent ? problemsOf(looked.error, text) : undefined
  const problems = typed.length > 0 ? typed : (refused ?? [])
  const reviewed = looked.data?.text === text ? looked.data : undefined
  const isReviewed = reviewed !== undefined
  const isChanged = reviewed !== undefined && reviewed.lines.length > 0
  const look = () => {
    if (typed.length > 0 || looked.isFetching) return
    if (isCurrent) void looked.refetch()
    else onAsk(text)
  }
  const write = (next: string) => {
    if (next === saved && (written === undefined || written.from === active)) draft.drop()
    else draft.keep({ text: next, from: written?.from ?? active })
  }
  useKeys({ 'mod+enter': look })
  const isEmpty = /^policies: \[\]\s+mappings: \[\]\s*$/.test(text)
  return (
    <div className="scroll-thin min-h-0 flex-1 max-lg:overflow-y-auto lg:grid lg:grid-cols-2">
      <section
        aria-label="Editor"
        className="flex min-h-0 min-w-0 flex-col border-line max-lg:border-b lg:border-r"
      >
        <YamlEditor text={text} problems={problems} onText={write} onReview={look} />
        {hidden && <p className="px-5 py-1.5 text-xs text-suggest max-md:px-4">{hidden}</p>}
        <Problems problems={problems} />
        {looked.error && isCurrent && !refused && (
          <div className="px-5 py-2 max-md:px-4">
            <ErrorNote error={looked.error} />
          </div>
        )}
        <footer className="flex flex-wrap items-center gap-2 border-t border-line px-5 py-3 max-md:px-4">
          <Button
            tone={isChanged ? 'plain' : 'primary'}
            keys="mod+enter"
            disabled={typed.length > 0 || looked.isFetching || isReviewed}
            onClick={look}
          >
            {looked.isFetching ? 'Simulating…' : 'Simulate'}
          </Button>
          {isOwner && (
            <Button
              tone={isChanged ? 'primary' : 'plain'}
              disabled={!isChanged}
              onClick={() => setSaving(true)}
            >
              Save…
            </Button>
          )}
          {written && (
            <Button tone="quiet" onClick={draft.drop}>
              Discard
            </Button>
          )}
          {isEmpty && (
            <Button tone="quiet" onClick={() => write(example)}>
              Begin with an example
            </Button>
          )}
          <p className="ml-auto text-xs text-faint">
            {stateOf({ hasDraft: written !== undefined, isReviewed, isChanged, isOwner })}
          </p>
        </footer>
      </section>
      <WhatItDoes text={text} review={looked.data} isFit={typed.length === 0} />
      {isSaving && reviewed && (
        <SavePolicies
          review={reviewed}
          from={written?.from ?? active}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  )
}

type State = { hasDraft: boolean; isReviewed: boolean; isChanged: boolean; isOwner: boolean }

function stateOf({ hasDraft, isReviewed, isChanged, isOwner }: State): string {
  if (!hasDraft) return 'As in force'
  if (!isReviewed) return 'Draft in this tab. Simulate it, then save.'
  if (!isChanged) return 'It says the same as what is in force.'
  return isOwner ? 'Simulated, ready to save' : 'Simulated. Owners save.'
}
