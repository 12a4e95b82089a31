import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { SelectField, TextArea, TextField } from '../shared/Field.tsx'
import { idOf } from './story-draft.ts'
import { useWork } from './work-context.ts'
import { sprintsQuery } from './work-queries.ts'

const choices = [
  { value: 'active', label: 'Now' },
  { value: 'planned', label: 'Later' },
]

export function NewSprint({ onClose }: { onClose: () => void }) {
  const { project } = useWork()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [title, setTitle] = useState('')
  const [goal, setGoal] = useState('')
  const [status, setStatus] = useState('active')
  const id = idOf(title)
  const create = useMutation({
    mutationFn: () =>
      call('worksync_create_sprint', {
        project,
        sprint_id: id,
        title: title.trim(),
        status,
        ...(goal.trim() !== '' && { goal: goal.trim() }),
      }),
    onSuccess: async () => {
      await client.invalidateQueries(sprintsQuery(project))
      onClose()
      void navigate({ to: '/work', search: { project, sprint: id } })
    },
  })
  return (
    <Dialog title="New sprint" onClose={onClose}>
      <form
        className="grid gap-4 text-left text-text"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <TextField
          label="Title"
          hint={id === '' ? 'With a letter or a digit in it.' : `Its id will be ${id}.`}
          required
          maxLength={200}
          data-autofocus
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <TextArea
          label="Goal"
          rows={2}
          maxLength={2000}
          value={goal}
          onChange={(event) => setGoal(event.target.value)}
        />
        <SelectField
          label="It begins"
          choices={choices}
          value={status}
          onChange={(event) => setStatus(event.target.value)}
        />
        <ErrorNote error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={create.isPending || id === ''}>
            Create
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
