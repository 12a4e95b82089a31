import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, call } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { draft } from './draft.ts'
import { sizeOf } from './diff.ts'
import type { Review } from './review.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextArea } from '../shared/Field.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { toast } from '../shared/toast.ts'

type Props = { review: Review; from: string; onClose: () => void }
type Lost = { readonly agent_id: string; readonly domains: readonly string[] }

/** Puts it in force. Whom it would leave without anything to do is named first. */
export function SavePolicies({ review, from, onClose }: Props) {
  const [note, setNote] = useState('')
  const [isSure, setSure] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      call('cowork_save_policies', {
        body: review.text,
        note: note.trim(),
        from,
        ...(isSure && { confirm: true }),
      }),
    onSuccess: async ({ version }) => {
      toast(`Version ${version.slice(0, 8)} is in force.`)
      onClose()
      draft.drop()
      await queries.invalidateQueries({ queryKey: ['policies'] })
    },
  })
  const lost = lostOf(save.error)
  const overtaken =
    save.error instanceof ApiError && save.error.code === 'policy_changed' ? save.error : undefined
  const { more, less } = sizeOf(review.lines)
  return (
    <Dialog title="Save the policies" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <p className="text-soft">
          {more} {more === 1 ? 'line' : 'lines'} added, {less} taken out. It is in force from the
          next proposal and call on; what waits already stays as it was judged.
        </p>
        <Note tone={review.replayed.table.length > 0 ? 'suggest' : 'plain'} icon="info">
          On record of {review.replayed.days} days: <b>{review.replayed.summary}</b>.
        </Note>
        <TextArea
          label="Why"
          hint="For whoever reads the versions later."
          rows={2}
          required
          maxLength={1000}
          data-autofocus
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        {lost ? (
          <LockOut lost={lost} isSure={isSure} onSure={setSure} />
        ) : overtaken ? (
          <Overtaken error={overtaken} />
        ) : (
          <ErrorNote error={save.error} />
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone={lost ? 'danger' : 'primary'}
            type="submit"
            disabled={save.isPending || note.trim() === '' || (lost !== undefined && !isSure)}
          >
            {lost ? 'Save and lock them out' : 'Save'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function lostOf(error: unknown): readonly Lost[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'would_lock_out') return undefined
  const { agents } = error.details
  return Array.isArray(agents) ? (agents as Lost[]) : []
}

type LockOutProps = { lost: readonly Lost[]; isSure: boolean; onSure: (isSure: boolean) => void }

const LockOut = ({ lost, isSure, onSure }: LockOutProps) => (
  <div role="alert" className="grid gap-2">
    <Note tone="escalate" icon="warn">
      <p>
        <b>It locks agents out.</b> Of what they proposed in 30 days they could propose nothing any
        more:
      </p>
      <ul className="scroll-thin max-h-32 overflow-y-auto">
        {lost.map(({ agent_id: agent, domains }) => (
          <li key={agent}>
            <b>
              <Plain text={agent} />
            </b>{' '}
            <span className="text-soft">
              in <Plain text={domains.join(', ')} />
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
        onChange={(event) => onSure(event.target.checked)}
      />
      That is what I want.
    </label>
  </div>
)

const Overtaken = ({ error }: { error: Error }) => (
  <div role="alert">
    <Note tone="escalate" icon="warn">
      <p>{error.message}</p>
      <p className="text-soft">
        <Link to="/policies/versions" className="underline underline-offset-3">
          Look at what changed
        </Link>
        , take it into your text, and save again.
      </p>
    </Note>
  </div>
)
