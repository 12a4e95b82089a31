import { useState } from 'react'
import { call } from '../api/client.ts'
import { TextArea, TextField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { plainString } from '../shared/plain.ts'
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
  const save = () =>
    before
      ? call('worksync_update_story', {
          project,
          story_id: before.id,
          expect_rev: before.rev,
          ...changed,
        })
      : call('worksync_add_story', { project, sprint_id: sprint, ...changed })
  const set = (name: keyof StoryDraft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value })
  return (
    <FormDialog
      title={before ? `Edit ${plainString(before.id)}` : 'New story'}
      wide
      action={before ? 'Save' : 'Add'}
      isFit={Object.keys(changed).length > 0}
      act={save}
      done={({ story: { id } }) => `${plainString(id)} is ${before ? 'changed' : 'planned'}.`}
      onClose={onClose}
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
    </FormDialog>
  )
}
