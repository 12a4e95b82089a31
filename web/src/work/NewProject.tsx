import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextField } from '../shared/Field.tsx'
import { toast } from '../shared/toast.ts'
import { projectsQuery } from './work-queries.ts'

export function NewProject({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const register = useMutation({
    mutationFn: () =>
      call('worksync_register_project', {
        project: name.trim(),
        ...(description.trim() !== '' && { description: description.trim() }),
      }),
    onSuccess: async ({ project, folder }) => {
      toast(`${project} lies in ${folder}.`)
      await client.invalidateQueries(projectsQuery)
      onClose()
      void navigate({ to: '/work', search: { project } })
    },
  })
  return (
    <Dialog title="New project" onClose={onClose}>
      <form
        className="grid gap-4 text-left text-text"
        onSubmit={(event) => {
          event.preventDefault()
          register.mutate()
        }}
      >
        <TextField
          label="Name"
          hint="Lower case letters, digits, dots and dashes, such as web-shop."
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="What it is about"
          maxLength={500}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <ErrorNote error={register.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={register.isPending}>
            Create
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
