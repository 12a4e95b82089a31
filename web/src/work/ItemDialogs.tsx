import { useState, useEffect, useRef } from 'react'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { TextArea, TextField, useDraft, SelectField } from '../shared/Field.tsx'
import { FormDialog, Dialog, DialogForm } from '../shared/Dialog.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { diffDraft, toDraft } from './story-draft.ts'
import type { Story, BacklogItem, BacklogWhole } from './work.ts'
import { useWork } from './work-context.ts'
import { QueryState } from '../shared/States.tsx'
import { backlogChanges, backlogDraft } from './backlog-draft.ts'
import { backlogNames, priorityNames } from './text.ts'
import { backlogStatuses, priorities } from './work.ts'
import { BacklogText } from './StoryParts.tsx'
import { itemQuery } from './work-queries.ts'

type Props = {
  /** The sprint of a new story. */
  sprint: string
  /** The edited story; absent for a new one. */
  story?: Story
  onClose: () => void
}

export function StoryDialog({ sprint, story, onClose }: Props) {
  const { project } = useWork()
  // The state when the form was opened, so that concurrent changes are not overwritten (W22).
  const [before] = useState(story)
  const { from, draft, field } = useDraft(() => toDraft(before))
  const changed = diffDraft(draft, from, before?.acceptance)
  const save = () =>
    before
      ? call('worksync_update_story', {
          project,
          story_id: before.id,
          expect_rev: before.rev,
          ...changed,
        })
      : call('worksync_add_story', { project, sprint_id: sprint, ...changed })
  return (
    <FormDialog
      title={before ? `Edit ${sanitizeText(before.id)}` : 'New story'}
      wide
      action={before ? 'Save' : 'Add'}
      isFit={Object.keys(changed).length > 0}
      act={save}
      done={({ story: { id } }) => `${before ? 'Changed' : 'Added'} ${sanitizeText(id)}.`}
      onClose={onClose}
    >
      <TextField label="Title" required maxLength={500} data-autofocus {...field('title')} />
      <div className="grid grid-cols-2 gap-4">
        <PriorityField {...field('priority')} />
        <TextField
          label="Estimate"
          type="number"
          min={0}
          max={10_000}
          step="any"
          {...field('estimate')}
        />
      </div>
      <TextArea label="Notes" rows={5} {...field('notes')} />
      <TextArea label="Acceptance criteria" hint="One per line" rows={3} {...field('acceptance')} />
      <TextField label="Depends on" hint="Story ids, separated by commas" {...field('needs')} />
      <TextArea label="Paths" hint="Files it changes, one per line" rows={2} {...field('paths')} />
    </FormDialog>
  )
}

type BacklogProps = { item?: BacklogItem; onClose: () => void }

/** Creates or edits a backlog item. */
export const BacklogDialog = ({ item, onClose }: BacklogProps) => (
  <Dialog
    title={item ? `Edit ${sanitizeText(item.id)}` : 'Add to the backlog'}
    onClose={onClose}
    wide
  >
    {item ? <EditForm id={item.id} onClose={onClose} /> : <BacklogForm onClose={onClose} />}
  </Dialog>
)

/** Loads the current item first, because the list can be stale. */
function EditForm({ id, onClose }: { id: string; onClose: () => void }) {
  const { project } = useWork()
  const query = useQuery(itemQuery(project, id))
  const { data, isFetchedAfterMount } = query
  if (data && isFetchedAfterMount) return <BacklogForm item={data} onClose={onClose} />
  return <QueryState query={query} what="the item" rows={4} />
}

function BacklogForm({ item, onClose }: { item?: BacklogWhole; onClose: () => void }) {
  const { project } = useWork()
  // The state when the form was opened (W22).
  const [before] = useState(item)
  const { from, draft, field } = useDraft(() => backlogDraft(before))
  const first = useRef<HTMLInputElement>(null)
  // The form can render after the dialog, whose autofocus then found no field.
  useEffect(() => first.current?.focus(), [])
  const changed = backlogChanges(draft, from, before)
  const save = () =>
    before
      ? call('worksync_update_backlog', {
          project,
          item_id: before.id,
          expect_rev: before.rev,
          ...changed,
        })
      : call('worksync_add_backlog', { project, ...changed })
  return (
    <DialogForm
      action={before ? 'Save' : 'Add'}
      isFit={Object.keys(changed).length > 0}
      act={save}
      done={before ? `Changed ${sanitizeText(before.id)}.` : 'Added to the backlog.'}
      onClose={onClose}
    >
      <TextField
        ref={first}
        label="Summary"
        required
        maxLength={500}
        data-autofocus
        {...field('summary')}
      />
      <TextField label="Theme" maxLength={100} {...field('theme')} />
      <div className="grid grid-cols-2 gap-4">
        <PriorityField {...field('priority')} />
        <SelectField
          label="Status"
          choices={backlogStatuses.map((value) => ({ value, label: backlogNames[value] }))}
          {...field('status')}
        />
      </div>
      {before?.text_note === undefined ? (
        <TextArea
          label="Text"
          hint="Stored as a file in BACKLOG/, which you can also edit."
          rows={10}
          maxLength={256_000}
          {...field('text')}
        />
      ) : (
        <BacklogText item={before} />
      )}
    </DialogForm>
  )
}

const priorityChoices = [
  { value: '', label: 'None' },
  ...priorities.map((value) => ({ value, label: priorityNames[value] })),
]

const PriorityField = (field: {
  value: string
  onChange: (event: { target: { value: string } }) => void
}) => <SelectField label="Priority" choices={priorityChoices} {...field} />
