import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/Dialog.tsx'
import { projectsQuery } from './work-queries.ts'

export function NewProject({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const name = useField()
  const description = useField()
  const about = description.value.trim()
  return (
    <FormDialog
      title="New project"
      action="Create"
      act={() =>
        call('worksync_register_project', {
          project: name.value.trim(),
          ...(about !== '' && { description: about }),
        })
      }
      done={({ project, folder }) => `Created ${project} in ${folder}.`}
      onDone={async ({ project }) => {
        await queryClient.invalidateQueries(projectsQuery)
        onClose()
        void navigate({ to: '/work', search: { project } })
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Lower-case letters, digits, dots and dashes, such as web-shop"
        required
        maxLength={100}
        data-autofocus
        {...name}
      />
      <TextField label="Description" maxLength={500} {...description} />
    </FormDialog>
  )
}
