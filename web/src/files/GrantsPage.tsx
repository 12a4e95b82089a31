import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from '@tanstack/react-router'
import { Button } from '../shared/Button.tsx'
import { QueryState, EmptyState, Note } from '../shared/States.tsx'
import { useIsOwner, useCanAct } from '../settings/person.ts'
import { useRefetch } from '../api/use-entries.ts'
import { grantsQuery, keepUnlessGone, usesGrant } from './file-queries.ts'
import { useFocusReturn } from './use-file-keys.ts'
import { queryClient } from '../api/queries.ts'
import { callFiles } from './call.ts'
import type { Grant } from './file.ts'
import {
  formatGrantee,
  isUnused,
  formatExpiry,
  describePermission,
  formatOrigin,
  permissionName,
} from './grant.ts'
import { pluralize } from './byte-size.ts'
import { DialogButton } from '../shared/DialogButton.tsx'
import { Chip } from '../shared/Chips.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { formatAgo, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toast } from '../shared/toast.ts'
import { ConfirmDialog, FormDialog } from '../shared/Dialog.tsx'
import { parseUntil } from '../inbox/grant.ts'
import { RadioGroup, SelectField, TextField, useField } from '../shared/Field.tsx'
import { agentsQuery } from '../agents/agent-queries.ts'
import { FolderPicker } from './FolderPicker.tsx'
import type { PickedPath } from './FolderPicker.tsx'

/** Limits refetches: agents use their grants many times per second. */
const refetchIntervalMs = 3000

/** Lists the grants, which people can revoke (GR4). */
export function GrantsPage() {
  const grants = useQuery(grantsQuery)
  const data = keepUnlessGone(grants)
  const isOwner = useIsOwner()
  const mayRevoke = useCanAct()
  const [isAdding, setAdding] = useState(false)
  useRefetch(usesGrant, grantsQuery, refetchIntervalMs)
  const container = useRef<HTMLElement>(null)
  useFocusReturn(container, 'li')
  const add = isOwner && (
    <Button icon="plus" onClick={() => setAdding(true)}>
      Grant access
    </Button>
  )
  if (!data) return <QueryState query={grants} what="grants" />
  return (
    <section
      ref={container}
      tabIndex={-1}
      aria-label="Grants"
      className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-4 outline-none max-md:px-4"
    >
      {data.length === 0 ? (
        <EmptyState icon="key" title="No grants">
          <p>Agents can use the workspace. Other access requests appear in the Inbox.</p>
          {add}
        </EmptyState>
      ) : (
        <>
          <header className="flex flex-wrap items-center justify-between gap-3 pb-3">
            <p className="max-w-130 text-pretty text-soft">
              Files and folders that agents can access. Revoking takes effect within 1 s.
            </p>
            {add}
          </header>
          <ul aria-label="Grants" className="border-t border-line">
            {data.map((grant) => (
              <GrantRow key={grant.id} grant={grant} mayRevoke={mayRevoke} />
            ))}
          </ul>
        </>
      )}
      {isAdding && <AddGrantDialog onClose={() => setAdding(false)} />}
    </section>
  )
}

const tones = { read: 'act', 'read-write': 'suggest', write: 'suggest', deny: 'escalate' } as const
const icons = { read: 'eye', 'read-write': 'edit', write: 'plus', deny: 'stop' } as const

type Props = { grant: Grant; mayRevoke: boolean }

function GrantRow({ grant, mayRevoke }: Props) {
  const now = useNow()
  const { permission, path } = grant
  const isDenied = permission === 'deny'
  const means = describePermission(grant.agent, permission)
  return (
    <li className="flex items-center gap-3 border-b border-line py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          {isDenied || permission === 'write' ? (
            <SafeText as="span" className="py-0.5 break-all" text={path} />
          ) : (
            <Link
              to="/files"
              search={grant.kind === 'file' ? { open: path } : { path }}
              className="py-0.5 break-all underline decoration-line underline-offset-3 hover:decoration-current"
            >
              <SafeText text={path} />
            </Link>
          )}
          <span title={sanitizeText(means)}>
            <Chip tone={tones[permission]} icon={icons[permission]}>
              {permissionName(permission)}
            </Chip>
          </span>
          {grant.replaced && (
            <span title="The granted file or folder is no longer at this path. Grant access again to open it">
              <Chip tone="escalate" icon="warn">
                Missing or replaced
              </Chip>
            </span>
          )}
          {isUnused(grant, now) && (
            <Chip tone="plain" icon="clock">
              Unused
            </Chip>
          )}
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-soft">
          <SafeText as="span" text={formatGrantee(grant)} />
          <span>{formatExpiry(grant, now)}</span>
          <span title={fullTime(Date.parse(grant.granted_at))}>
            {isDenied ? 'blocked' : formatOrigin(grant)}{' '}
            {formatAgo(Date.parse(grant.granted_at), now)}
          </span>
          {!isDenied && <LastUse grant={grant} now={now} />}
        </p>
      </div>
      {mayRevoke && (
        <DialogButton
          size="sm"
          aria-label={`Revoke ${sanitizeText(path)}`}
          dialog={(close) => (
            <ConfirmDialog
              title={isDenied ? 'Allow new requests?' : 'Revoke this grant?'}
              action={isDenied ? 'Allow requests' : 'Revoke'}
              act={async () => {
                const { message } = await callFiles('revoke_grant', { grant_id: grant.id })
                if (message !== undefined) toast(message, true)
                await queryClient.invalidateQueries(grantsQuery)
              }}
              done={isDenied ? 'Allowed new requests.' : 'Revoked the grant.'}
              onClose={close}
            >
              <SafeText as="p" className="break-all text-text" text={path} />
              <SafeText as="p" text={means} />
              <p>
                {isDenied
                  ? 'The next access request appears in the Inbox.'
                  : 'Running reads and writes end within 1 s. The audit log is kept.'}
              </p>
            </ConfirmDialog>
          )}
        >
          Revoke
        </DialogButton>
      )}
    </li>
  )
}

type UseProps = { grant: Grant; now: number }

const LastUse = ({ grant: { last_accessed: at, access_count: count }, now }: UseProps) =>
  at === null ? (
    <span>never used</span>
  ) : (
    <span title={fullTime(Date.parse(at))}>
      used {formatAgo(Date.parse(at), now)}, {pluralize(count, 'time', 'times')}
    </span>
  )

/** Grants access without a request (GR10): first the path, then the permission. */
function AddGrantDialog({ onClose }: { onClose: () => void }) {
  const [picked, setPicked] = useState<PickedPath>()
  return picked ? (
    <PermissionForm picked={picked} onClose={onClose} />
  ) : (
    <FolderPicker
      title="Choose a file or folder"
      action="Choose this folder"
      hint="Open a folder to grant all of its contents, or choose one file."
      withFiles
      onPick={setPicked}
      onClose={onClose}
    />
  )
}

type GrantedPermission = 'read' | 'read-write' | 'write'
const folderPermissions: readonly GrantedPermission[] = ['read', 'read-write', 'write']

function PermissionForm({
  picked: { path, isFile },
  onClose,
}: {
  picked: PickedPath
  onClose: () => void
}) {
  const agents = useQuery(agentsQuery).data ?? []
  const [permission, setPermission] = useState<GrantedPermission>('read')
  const agent = useField('*')
  const until = useField()
  const now = useNow()
  const ends = until.value === '' ? undefined : parseUntil(until.value, now)
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
      done="Granted access."
      onDone={async () => {
        await queryClient.invalidateQueries(grantsQuery)
        onClose()
      }}
      onClose={onClose}
    >
      <SafeText as="p" className="font-mono text-code break-all" text={path} />
      <RadioGroup
        label="Permission"
        value={permission}
        choices={(isFile ? folderPermissions.slice(0, 2) : folderPermissions).map((value) => ({
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
        hint={lacks ?? 'Empty: until revoked'}
        aria-invalid={lacks !== undefined}
        {...until}
      />
      <Note tone={permission === 'read' ? 'plain' : 'suggest'} icon="info">
        <SafeText
          text={describePermission(
            agent.value,
            permission,
            isFile ? 'this file' : 'this folder and all subfolders',
          )}
        />
        {isFile && ' The folder is not included.'}
      </Note>
    </FormDialog>
  )
}
