import { useQuery, useMutation } from '@tanstack/react-query'
import { useMemo, useState, useSyncExternalStore } from 'react'
import { Link } from '@tanstack/react-router'
import { useKeys } from '../shared/use-keys.ts'
import { Button } from '../shared/Button.tsx'
import { QueryState, ErrorNote, Note, joinQueries } from '../shared/States.tsx'
import { describeHidden } from '../shared/sanitize.ts'
import { draft } from './draft.ts'
import { example } from './example.ts'
import { toTextIssues, review } from './review.ts'
import { parseYamlText } from './yaml-text.ts'
import { policiesQuery, textQuery } from './policy-queries.ts'
import { useIsOwner } from '../settings/person.ts'
import { IssueList, YamlEditor } from './YamlEditor.tsx'
import { DraftPreview } from './DraftPreview.tsx'
import { ApiError, call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { countChanges } from './diff.ts'
import type { DraftReview } from './review.ts'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { TextArea } from '../shared/Field.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { toast } from '../shared/toast.ts'

export function EditPage() {
  const listed = useQuery(policiesQuery)
  const active = listed.data?.active?.version
  const text = useQuery({ ...textQuery(active ?? ''), enabled: active !== undefined })
  const [asked, setAsked] = useState<string>()
  if (active !== undefined && text.data !== undefined)
    return <Editor key={active} active={active} saved={text.data} asked={asked} onAsk={setAsked} />
  const pending = active === undefined ? listed : joinQueries(listed, text)
  return <QueryState query={pending} what="the policies" rows={8} />
}

const defaultDays = 30

type EditorProps = {
  readonly active: string
  readonly saved: string
  /** The last simulated text. */
  readonly asked: string | undefined
  readonly onAsk: (text: string) => void
}

function Editor({ active, saved, asked, onAsk }: EditorProps) {
  const storedDraft = useSyncExternalStore(draft.subscribe, draft.get)
  const isOwner = useIsOwner()
  const [isSaving, setSaving] = useState(false)
  const text = storedDraft?.text ?? saved
  // The key includes the active version, so that a new version repeats the simulation.
  const reviewQuery = useQuery({
    queryKey: ['review', active, asked],
    queryFn: () => review(asked ?? '', defaultDays),
    enabled: asked !== undefined,
  })
  const syntaxErrors = useMemo(() => parseYamlText(text).problems, [text])
  const hidden = describeHidden(text)
  const isCurrent = asked === text
  const policyErrors = isCurrent ? toTextIssues(reviewQuery.error, text) : undefined
  const problems = syntaxErrors.length > 0 ? syntaxErrors : (policyErrors ?? [])
  const reviewed = reviewQuery.data?.text === text ? reviewQuery.data : undefined
  const isReviewed = reviewed !== undefined
  const isChanged = reviewed !== undefined && reviewed.lines.length > 0
  const simulate = () => {
    if (syntaxErrors.length > 0 || reviewQuery.isFetching) return
    if (isCurrent) void reviewQuery.refetch()
    else onAsk(text)
  }
  const updateText = (next: string) => {
    if (next === saved && (storedDraft === undefined || storedDraft.from === active))
      draft.discard()
    else draft.save({ text: next, from: storedDraft?.from ?? active })
  }
  useKeys({ 'mod+enter': simulate })
  const isEmpty = /^policies: \[\]\s+mappings: \[\]\s*$/.test(text)
  return (
    <div className="scroll-thin min-h-0 flex-1 max-lg:overflow-y-auto lg:grid lg:grid-cols-2">
      <section
        aria-label="Editor"
        className="flex min-h-0 min-w-0 flex-col border-line max-lg:border-b lg:border-r"
      >
        <YamlEditor text={text} problems={problems} onText={updateText} onReview={simulate} />
        {hidden && <p className="px-5 py-1.5 text-xs text-suggest max-md:px-4">{hidden}</p>}
        <IssueList problems={problems} />
        {reviewQuery.error && isCurrent && !policyErrors && (
          <div className="px-5 py-2 max-md:px-4">
            <ErrorNote error={reviewQuery.error} />
          </div>
        )}
        <footer className="flex flex-wrap items-center gap-2 border-t border-line px-5 py-3 max-md:px-4">
          <Button
            tone={isChanged ? 'plain' : 'primary'}
            keys="mod+enter"
            disabled={syntaxErrors.length > 0 || reviewQuery.isFetching || isReviewed}
            onClick={simulate}
          >
            {reviewQuery.isFetching ? 'Simulating…' : 'Simulate'}
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
          {storedDraft && (
            <Button tone="quiet" onClick={draft.discard}>
              Discard
            </Button>
          )}
          {isEmpty && (
            <Button tone="quiet" onClick={() => updateText(example)}>
              Insert example
            </Button>
          )}
          <p className="ml-auto text-xs text-faint">
            {formatDraftState({
              hasDraft: storedDraft !== undefined,
              isReviewed,
              isChanged,
              isOwner,
            })}
          </p>
        </footer>
      </section>
      <DraftPreview text={text} review={reviewQuery.data} isFit={syntaxErrors.length === 0} />
      {isSaving && reviewed && (
        <SavePolicies
          review={reviewed}
          from={storedDraft?.from ?? active}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  )
}

type State = { hasDraft: boolean; isReviewed: boolean; isChanged: boolean; isOwner: boolean }

function formatDraftState({ hasDraft, isReviewed, isChanged, isOwner }: State): string {
  if (!hasDraft) return 'Active version'
  if (!isReviewed) return 'Draft in this tab. Simulate before you save.'
  if (!isChanged) return 'No changes to the active version'
  return isOwner ? 'Simulated, ready to save' : 'Simulated. Only owners can save.'
}

type Props = { review: DraftReview; from: string; onClose: () => void }
type BlockedAgent = { readonly agent_id: string; readonly domains: readonly string[] }

/** Saves a draft; agents that it would block are listed first. */
function SavePolicies({ review, from, onClose }: Props) {
  const [note, setNote] = useState('')
  const [isConfirmed, setConfirmed] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      call('cowork_save_policies', {
        body: review.text,
        note: note.trim(),
        from,
        ...(isConfirmed && { confirm: true }),
      }),
    onSuccess: async ({ version }) => {
      toast(`Saved version ${version.slice(0, 8)}.`)
      onClose()
      draft.discard()
      await queryClient.invalidateQueries({ queryKey: ['policies'] })
    },
  })
  const blocked = listBlockedAgents(save.error)
  const conflict =
    save.error instanceof ApiError && save.error.code === 'policy_changed' ? save.error : undefined
  const { more, less } = countChanges(review.lines)
  return (
    <Dialog title="Save policies" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <p className="text-soft">
          {more} {more === 1 ? 'line' : 'lines'} added, {less} removed. Applies to new proposals and
          calls, not to pending ones.
        </p>
        <Note tone={review.replayed.table.length > 0 ? 'suggest' : 'plain'} icon="info">
          Last {review.replayed.days} days: <b>{review.replayed.summary}</b>.
        </Note>
        <TextArea
          label="Note"
          hint="Shown in the list of versions."
          rows={2}
          required
          maxLength={1000}
          data-autofocus
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        {blocked ? (
          <BlockedAgents lost={blocked} isSure={isConfirmed} onConfirm={setConfirmed} />
        ) : conflict ? (
          <VersionConflict error={conflict} />
        ) : (
          <ErrorNote error={save.error} />
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone={blocked ? 'danger' : 'primary'}
            type="submit"
            disabled={
              save.isPending || note.trim() === '' || (blocked !== undefined && !isConfirmed)
            }
          >
            {blocked ? 'Save anyway' : 'Save'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function listBlockedAgents(error: unknown): readonly BlockedAgent[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'would_lock_out') return undefined
  const { agents } = error.details
  return Array.isArray(agents) ? (agents as BlockedAgent[]) : []
}

type LockOutProps = {
  lost: readonly BlockedAgent[]
  isSure: boolean
  onConfirm: (isSure: boolean) => void
}

const BlockedAgents = ({ lost, isSure, onConfirm }: LockOutProps) => (
  <div role="alert" className="grid gap-2">
    <Note tone="escalate" icon="warn">
      <p>
        <b>This blocks active agents.</b> All their proposals of the last 30 days would be blocked:
      </p>
      <ul className="scroll-thin max-h-32 overflow-y-auto">
        {lost.map(({ agent_id: agent, domains }) => (
          <li key={agent}>
            <SafeText as="b" text={agent} />{' '}
            <span className="text-soft">
              in <SafeText text={domains.join(', ')} />
            </span>
          </li>
        ))}
      </ul>
    </Note>
    <label className="flex items-center gap-2.5 py-1">
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={isSure}
        onChange={(event) => onConfirm(event.target.checked)}
      />
      I understand
    </label>
  </div>
)

const VersionConflict = ({ error }: { error: Error }) => (
  <div role="alert">
    <Note tone="escalate" icon="warn">
      <p>{error.message}</p>
      <p className="text-soft">
        <Link to="/policies/versions" className="underline underline-offset-3">
          Compare versions
        </Link>
        , merge the changes into your draft, and save again.
      </p>
    </Note>
  </div>
)
