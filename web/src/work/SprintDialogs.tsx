import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { pluralize } from '../files/byte-size.ts'
import { SelectField, TextArea, TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/Dialog.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { isOpen, openSprints } from './board.ts'
import { slugify } from './story-draft.ts'
import { sprintLabel, sprintTitle } from './text.ts'
import type { Card, Sprint } from './work.ts'
import { useWork } from './work-context.ts'
import { sprintsQuery } from './work-queries.ts'

const choices = [
  { value: 'active', label: 'Now' },
  { value: 'planned', label: 'Later' },
]

export function NewSprint({ onClose }: { onClose: () => void }) {
  const { project } = useWork()
  const navigate = useNavigate()
  const title = useField()
  const goal = useField()
  const status = useField('active')
  const id = slugify(title.value)
  return (
    <FormDialog
      title="New sprint"
      action="Create"
      isFit={id !== ''}
      act={() =>
        call('worksync_create_sprint', {
          project,
          sprint_id: id,
          title: title.value.trim(),
          status: status.value,
          ...(goal.value.trim() !== '' && { goal: goal.value.trim() }),
        })
      }
      onDone={async () => {
        await queryClient.invalidateQueries(sprintsQuery(project))
        onClose()
        void navigate({ to: '/work', search: { project, sprint: id } })
      }}
      onClose={onClose}
    >
      <TextField
        label="Title"
        hint={id === '' ? 'At least one letter or digit' : `Id: ${id}`}
        required
        maxLength={200}
        data-autofocus
        {...title}
      />
      <TextArea label="Goal" rows={2} maxLength={2000} {...goal} />
      <SelectField label="Start" choices={choices} {...status} />
    </FormDialog>
  )
}

type Props = {
  sprint: Sprint
  sprints: readonly Sprint[]
  stories: readonly Card[]
  onClose: () => void
}

/** Completes a sprint and carries its open stories to another one (W13). */
export function CompleteSprint({ sprint, sprints, stories, onClose }: Props) {
  const { project } = useWork()
  const openCount = stories.filter(isOpen).length
  const others = openSprints(sprints).filter(({ id }) => id !== sprint.id)
  const target = useField(others[0]?.id)
  const hasNoTarget = openCount > 0 && others.length === 0
  const name = sanitizeText(sprintTitle(sprint))
  return (
    <FormDialog
      title={`Complete ${name}?`}
      action={hasNoTarget ? undefined : 'Complete'}
      isCautious
      act={() =>
        call('worksync_update_sprint', {
          project,
          sprint_id: sprint.id,
          status: 'completed',
          expect_rev: sprint.rev,
          ...(openCount > 0 && { carry_to: target.value || others[0]?.id }),
        })
      }
      done={`Completed ${name}.`}
      onClose={onClose}
    >
      {openCount === 0 ? (
        <p className="text-soft">All stories are done or dropped.</p>
      ) : hasNoTarget ? (
        <p className="text-soft">
          {pluralize(openCount, 'story is', 'stories are')} still open. Create another sprint for
          the open stories first.
        </p>
      ) : (
        <SelectField
          label={`Move ${pluralize(openCount, 'open story', 'open stories')} to`}
          choices={others.map((one) => ({
            value: one.id,
            label: sanitizeText(sprintLabel(one, sprints)),
          }))}
          {...target}
        />
      )}
    </FormDialog>
  )
}
