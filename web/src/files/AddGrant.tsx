import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { callFiles } from './call.ts'
import { meansText, permissionName } from './grant.ts'
import { untilOf } from '../inbox/grant.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { Choices, SelectField, TextField } from '../shared/Field.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
import { toast } from '../shared/toast.ts'
import { useNow } from '../shared/use-now.ts'
import { grantsQuery } from './file-queries.ts'
import { FolderPicker } from './FolderPicker.tsx'
import type { Picked } from './FolderPicker.tsx'

/** What a person hands over without being asked (GR10): first what, then how far. */
export function AddGrant({ onClose }: { onClose: () => void }) {
  const [picked, setPicked] = useState<Picked>()
  return picked ? (
    <HowFar picked={picked} onClose={onClose} />
  ) : (
    <FolderPicker
      title="What may agents see?"
      action="Choose this folder"
      hint="Open the folder to choose it with all that is in it, or choose one file. You say next for whom, and for how long."
      withFiles
      onPick={setPicked}
      onClose={onClose}
    />
  )
}

type Given = 'read' | 'read-write' | 'write'
const forFolders: readonly Given[] = ['read', 'read-write', 'write']

function HowFar({ picked: { path, isFile }, onClose }: { picked: Picked; onClose: () => void }) {
  const client = useQueryClient()
  const agents = useQuery(agentsQuery).data ?? []
  const [permission, setPermission] = useState<Given>('read')
  const [agent, setAgent] = useState('*')
  const [until, setUntil] = useState('')
  const now = useNow()
  const ends = until === '' ? undefined : untilOf(until, now)
  const lacks = ends && 'lacks' in ends ? ends.lacks : undefined
  const add = useMutation({
    mutationFn: () =>
      callFiles('add_grant', {
        path,
        permission,
        agent,
        granted_by: isFile && permission === 'read' ? 'user_implicit' : 'user_explicit',
        ...(ends && 'until' in ends && { expires_at: ends.until }),
      }),
    onSuccess: async () => {
      toast('Access is granted.')
      await client.invalidateQueries(grantsQuery)
      onClose()
    },
  })
  const active = agents.filter(({ status }) => status === 'active')
  return (
    <Dialog title="Grant access" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate()
        }}
      >
        <p className="font-mono text-code break-all">
          <Plain text={path} />
        </p>
        <Choices
          label="Permission"
          value={permission}
          choices={(isFile ? forFolders.slice(0, 2) : forFolders).map((value) => ({
            value,
            label: permissionName(value),
          }))}
          onChoose={setPermission}
        />
        <SelectField
          label="For"
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
          choices={[
            { value: '*', label: 'Every agent' },
            ...active.map(({ id }) => ({ value: id, label: id })),
          ]}
        />
        <TextField
          label="Until"
          type="datetime-local"
          hint={lacks ?? 'Empty means until you revoke it.'}
          aria-invalid={lacks !== undefined}
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
        <Note tone={permission === 'read' ? 'plain' : 'suggest'} icon="info">
          <Plain text={meansText(agent, permission, isFile ? 'it' : 'it and all folders below')} />
          {isFile && ' The folder around it stays closed.'}
        </Note>
        <ErrorNote error={add.error} />
        <DialogActions>
          <Button onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button tone="primary" type="submit" disabled={add.isPending || lacks !== undefined}>
            Grant access
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
