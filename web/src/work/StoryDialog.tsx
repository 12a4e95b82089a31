import { useState } from 'react'
import { call } from '../api/client.ts'
import { TextArea, TextField, useDraft } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { plainString } from '../shared/plain.ts'
import { changesOf, draftOf } from './story-draft.ts'
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

export function StoryDialog({ sprint, story, onClose }: Props) {
  const { project } = useWork()
  // As it was when the form was opened: whoever changes it meanwhile is not overwritten (W22).
  const [before] = useState(story)
  const { from, draft, field } = useDraft(() => draftOf(before))
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
      <TextArea label="Done when" hint="One criterion a line." rows={3} {...field('acceptance')} />
      <TextField
        label="Depends on"
        hint="Ids of stories, with commas between."
        {...field('needs')}
      />
      <TextArea label="Paths" hint="Files it is about, one a line." rows={2} {...field('paths')} />
    </FormDialog>
  )
}
