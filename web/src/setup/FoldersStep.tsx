import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { isFolder } from '../files/file.ts'
import { permissionName, getFolderAccess } from '../files/grant.ts'
import type { FolderAccess } from '../files/grant.ts'
import { joinPath, baseName } from '../files/path.ts'
import { Button } from '../shared/Button.tsx'
import { QueryState, ErrorNote, joinQueries } from '../shared/States.tsx'
import { RadioGroup } from '../shared/Field.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { toast } from '../shared/toast.ts'
import { suggestedFolders } from './setup.ts'
import { browseQuery, grantsQuery } from '../files/file-queries.ts'
import { FolderPicker } from '../files/FolderPicker.tsx'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

type Permission = 'read' | 'read-write'

/** Grants access to folders. None is preselected. */
export function FoldersStep({ onNext }: StepProps) {
  const home = useQuery(browseQuery('~'))
  const granted = useQuery(grantsQuery)
  const [added, setAdded] = useState<readonly string[]>([])
  const [permissions, setWanted] = useState<Readonly<Record<string, Permission>>>({})
  const [isPicking, setPicking] = useState(false)
  const grant = useMutation({
    async mutationFn() {
      const chosen = Object.entries(permissions)
      for (const [path, permission] of chosen) {
        await call('add_grant', { path, permission, agent: '*', granted_by: 'system_setup' })
        // A retry after a later failure must not grant this folder again.
        setPermission(path, undefined)
      }
      return chosen.length
    },
    onSettled: () => queryClient.invalidateQueries(grantsQuery),
    onSuccess(count) {
      toast(count === 1 ? 'Granted access to 1 folder.' : `Granted access to ${count} folders.`)
      onNext()
    },
  })
  if (!home.data || !granted.data)
    return <QueryState query={joinQueries(home, granted)} what="folders" rows={4} />
  const { path: top, entries } = home.data
  const there = new Set(entries.filter(isFolder).map(({ name }) => baseName(name)))
  const suggested = suggestedFolders
    .filter((name) => there.has(name))
    .map((name) => joinPath(top, name))
  const offered = [...new Set([...suggested, ...added])]
  const hasChosen = Object.keys(permissions).length > 0

  function setPermission(path: string, permission: Permission | undefined) {
    setWanted((before) => {
      const { [path]: _, ...others } = before
      return permission === undefined ? others : { ...others, [path]: permission }
    })
  }
  return (
    <Step
      title="Grant AI access to these folders now?"
      lead="(You can always grant more access later)"
      actions={
        <>
          <Button disabled={grant.isPending} onClick={onNext}>
            Skip for Now
          </Button>
          <Button
            tone="primary"
            disabled={!hasChosen || grant.isPending}
            onClick={() => grant.mutate()}
          >
            Continue
          </Button>
        </>
      }
    >
      <ul aria-label="Folders" className="border-t border-line">
        {offered.map((path) => (
          <Folder
            key={path}
            path={path}
            standing={getFolderAccess(granted.data, path)}
            permission={permissions[path]}
            onWant={(permission) => setPermission(path, permission)}
          />
        ))}
        <li className="border-b border-line py-2">
          <Button tone="quiet" icon="plus" onClick={() => setPicking(true)}>
            Add another folder…
          </Button>
        </li>
      </ul>
      <p className="text-pretty text-soft">
        Every agent gets access to these folders and their subfolders. Revoke access under Files,
        Grants.
      </p>
      <ErrorNote error={grant.error} />
      {isPicking && (
        <FolderPicker
          title="Add another folder"
          action="Add folder"
          hint="Every agent gets access to this folder and its subfolders."
          onPick={({ path }) => {
            setPicking(false)
            setAdded((before) => [...before, path])
            setPermission(path, 'read')
          }}
          onClose={() => setPicking(false)}
        />
      )}
    </Step>
  )
}

type FolderProps = {
  path: string
  standing: FolderAccess
  permission: Permission | undefined
  onWant: (permission: Permission | undefined) => void
}

const Folder = ({ path, standing: { all, others }, permission, onWant }: FolderProps) => (
  <li className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-1.5">
    <label className="flex min-w-48 flex-1 items-center gap-2.5">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-(--accent)"
        checked={(all !== undefined && all !== 'deny') || permission !== undefined}
        disabled={all !== undefined}
        onChange={(event) => onWant(event.target.checked ? 'read' : undefined)}
      />
      <SafeText as="span" className="min-w-0 font-mono text-code break-all" text={path} />
    </label>
    {all === 'deny' ? (
      <span className="text-xs text-soft">Blocked for all agents</span>
    ) : all === 'read-write' || all === 'write' ? (
      <span className="text-xs text-soft">Granted: {permissionName(all)}</span>
    ) : (
      <>
        {all === 'read' && <span className="text-xs text-soft">Granted</span>}
        {others.map((text) => (
          <SafeText key={text} as="span" className="text-xs text-soft" text={text} />
        ))}
        {(permission ?? all) && (
          <RadioGroup
            label={`Permission for ${sanitizeText(path)}`}
            value={permission ?? 'read'}
            choices={[
              { value: 'read', label: 'Read' },
              { value: 'read-write', label: 'Read-Write' },
            ]}
            onChoose={(chosen) => onWant(chosen === all ? undefined : chosen)}
          />
        )}
      </>
    )}
  </li>
)
