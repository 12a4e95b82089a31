import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextArea, TextField } from '../shared/Field.tsx'
import { plainString } from '../shared/plain.ts'
import { toast } from '../shared/toast.ts'
import { changesOf, draftOf, emptyDraft } from './story-draft.ts'
import type { StoryDraft } from './story-draft.ts'
import type { Story } from './work.ts'
import { PriorityField } from './PriorityField.tsx'
import { useWork } from './work-context.ts'

type Props = {
  /** Where a new one goes. */
  sprint: string
  /** The one that is edited. */
  story?: Story
  onClose: () => void
}

/** A new story, or another text for one there is; only what was changed is sent. */
export function StoryDialog({ sprint, story, onClose }: Props) {
  const { project } = useWork()
  // As it was when the form was opened: whoever changes it meanwhile is not overwritten (W22).
  const [before] = useState(story)
  const [from] = useState(() => (before ? draftOf(before) : emptyDraft))
  const [draft, setDraft] = useState(from)
  const changed = changesOf(draft, from, before?.acceptance)
  const save = useMutation({
    mutationFn: () =>
      before
        ? call('worksync_update_story', {
            project,
            story_id: before.id,
            expect_rev: before.rev,
            ...changed,
          })
        : call('worksync_add_story', { project, sprint_id: sprint, ...changed }),
    onSuccess: ({ story: { id } }) => {
      toast(before ? `${plainString(id)} is changed.` : `${plainString(id)} is planned.`)
      onClose()
    },
  })
  const set = (name: keyof StoryDraft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value })
  return (
    <Dialog title={before ? `Edit ${plainString(before.id)}` : 'New story'} onClose={onClose} wide>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <TextField
          label="Title"
          required
          maxLength={500}
          data-autofocus
          value={draft.title}
          onChange={set('title')}
        />
        <div className="grid grid-cols-2 gap-4">
          <PriorityField value={draft.priority} onChange={set('priority')} />
          <TextField
            label="Estimate"
            type="number"
            min={0}
            max={10_000}
            step="any"
            value={draft.estimate}
            onChange={set('estimate')}
          />
        </div>
        <TextArea label="Notes" rows={5} value={draft.notes} onChange={set('notes')} />
        <TextArea
          label="Done when"
          hint="One criterion a line."
          rows={3}
          value={draft.acceptance}
          onChange={set('acceptance')}
        />
        <TextField
          label="Depends on"
          hint="Ids of stories, with commas between."
          value={draft.needs}
          onChange={set('needs')}
        />
        <TextArea
          label="Paths"
          hint="Files it is about, one a line."
          rows={2}
          value={draft.paths}
          onChange={set('paths')}
        />
        <ErrorNote error={save.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            type="submit"
            disabled={save.isPending || Object.keys(changed).length === 0}
          >
            {before ? 'Save' : 'Add'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
