import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callFiles } from './call.ts'
import { meansText, permissionName } from './grant.ts'
import { untilOf } from '../inbox/grant.ts'
import { queries } from '../api/queries.ts'
import { Choices, SelectField, TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
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
  const agents = useQuery(agentsQuery).data ?? []
  const [permission, setPermission] = useState<Given>('read')
  const agent = useField('*')
  const until = useField()
  const now = useNow()
  const ends = until.value === '' ? undefined : untilOf(until.value, now)
  const lacks = ends && 'lacks' in ends ? ends.lacks : undefined
  const active = agents.filter(({ status }) => status === 'active')
  return (
    <FormDialog
      title="Grant access"
      action="Grant access"
      isCautious
      isFit={lacks === undefined}
      act={() =>
        callFiles('add_grant', {
          path,
          permission,
          agent: agent.value,
          granted_by: isFile && permission === 'read' ? 'user_implicit' : 'user_explicit',
          ...(ends && 'until' in ends && { expires_at: ends.until }),
        })
      }
      done="Access is granted."
      onDone={async () => {
        await queries.invalidateQueries(grantsQuery)
        onClose()
      }}
      onClose={onClose}
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
        choices={[
          { value: '*', label: 'Every agent' },
          ...active.map(({ id }) => ({ value: id, label: id })),
        ]}
        {...agent}
      />
      <TextField
        label="Until"
        type="datetime-local"
        hint={lacks ?? 'Empty means until you revoke it.'}
        aria-invalid={lacks !== undefined}
        {...until}
      />
      <Note tone={permission === 'read' ? 'plain' : 'suggest'} icon="info">
        <Plain
          text={meansText(agent.value, permission, isFile ? 'it' : 'it and all folders below')}
        />
        {isFile && ' The folder around it stays closed.'}
      </Note>
    </FormDialog>
  )
}
