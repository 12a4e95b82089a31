import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { useIsOwner, useCanAct } from '../settings/person.ts'
import { callFiles } from './call.ts'
import { isFolder, formatPurge } from './file.ts'
import type { TrashItem } from './file.ts'
import { baseName, parentPath, relativeTo, nextFreeName, joinPath } from './path.ts'
import { formatSize } from './byte-size.ts'
import { Ago } from '../shared/Ago.tsx'
import { Button, IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Menu } from '../shared/Menu.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShowMore } from '../shared/ListParts.tsx'
import { QueryState, EmptyState } from '../shared/States.tsx'
import { sanitizeText, describeHidden } from '../shared/sanitize.ts'
import { queryClient } from '../api/queries.ts'
import { fullTime, formatTimeLeft } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { toDistinctNames } from '../shared/distinct-name.ts'
import { ConfirmDialog, FormDialog } from '../shared/Dialog.tsx'
import { infoQuery, keepUnlessGone, trashQuery } from './file-queries.ts'
import { useFocusReturn } from './use-file-keys.ts'
import { TextField, useField } from '../shared/Field.tsx'

/** Lists deleted files, to restore or delete permanently (TR1). */
export function TrashPage() {
  const trash = useInfiniteQuery(trashQuery)
  const workspace = useQuery(infoQuery).data?.workspace_path
  const container = useRef<HTMLElement>(null)
  useFocusReturn(container, 'li')
  const items = keepUnlessGone(trash)?.pages.flatMap((page) => page.items)
  if (!items) return <QueryState query={trash} what="trash" />
  const pathOf = ({ path }: TrashItem) =>
    workspace === undefined ? path : relativeTo(workspace, path)
  const names = toDistinctNames(
    items,
    (item) => baseName(item.path),
    pathOf,
    (item) => `${pathOf(item)}, deleted ${fullTime(Date.parse(item.deleted_at))}`,
  )
  return (
    <section
      ref={container}
      tabIndex={-1}
      aria-label="Trash"
      className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-3 outline-none max-md:px-4"
    >
      {items.length === 0 ? (
        <EmptyState icon="trash" title="Trash is empty">
          <p>Deleted files are kept here until they expire.</p>
        </EmptyState>
      ) : (
        <ul aria-label="Deleted files" className="border-t border-line">
          {items.map((item, at) => (
            <TrashRow
              key={item.trash_id}
              item={item}
              path={pathOf(item)}
              uniqueName={sanitizeText(names[at] ?? item.path)}
            />
          ))}
        </ul>
      )}
      <ShowMore query={trash} />
    </section>
  )
}

const deletePermanently = { label: 'Delete permanently', icon: 'cross', danger: true } as const

type TrashRowProps = {
  item: TrashItem
  /** Relative to the workspace, if inside. */
  path: string
  /** A name that is unique in the list. */
  uniqueName: string
}

function TrashRow({ item, path, uniqueName }: TrashRowProps) {
  const now = useNow()
  const [isConfirming, setConfirming] = useState(false)
  const [isRestoringAs, setRestoringAs] = useState(false)
  const name = sanitizeText(baseName(path))
  const refresh = () => queryClient.invalidateQueries({ queryKey: trashQuery.queryKey })
  const restore = useMutation({
    mutationFn: () => callFiles('trash_restore', { trash_id: item.trash_id }),
    onSuccess: async () => {
      toast(`Restored ${name}.`)
      await refresh()
    },
    onError: (error) =>
      error instanceof ApiError && error.code === 'exists'
        ? setRestoringAs(true)
        : toastProblem(error),
  })
  const mayRestore = useCanAct()
  const isOwner = useIsOwner()
  return (
    <li className="flex items-center gap-3 border-b border-line py-2">
      <Icon name={isFolder(item) ? 'folder' : 'file'} className="self-start pt-0.5 text-soft" />
      <div className="min-w-0 flex-1">
        <SafeText
          as="p"
          className="break-all"
          title={sanitizeText(item.path)}
          text={baseName(path)}
        />
        <p className="flex flex-wrap gap-x-3 text-xs text-soft">
          {parentPath(path) !== '' && (
            <SafeText as="span" className="break-all" text={parentPath(path)} />
          )}
          {!isFolder(item) && <span>{formatSize(item.size_bytes)}</span>}
          <span>
            deleted by <SafeText text={item.deleted_by} />, <Ago at={item.deleted_at} />
          </span>
          <span>expires in {formatTimeLeft(Date.parse(item.expires_at), now)}</span>
        </p>
      </div>
      {mayRestore && (
        <Button
          size="sm"
          icon="undo"
          aria-label={`Restore ${uniqueName}`}
          // A disabled button loses the focus.
          aria-disabled={restore.isPending}
          onClick={() => restore.isPending || restore.mutate()}
        >
          Restore
        </Button>
      )}
      {mayRestore && (
        <Menu
          trigger={<IconButton icon="more" label={`More actions for ${uniqueName}`} />}
          items={[
            { label: 'Restore as…', icon: 'undo', act: () => setRestoringAs(true) },
            ...(isOwner ? [{ ...deletePermanently, act: () => setConfirming(true) }] : []),
          ]}
        />
      )}
      {isRestoringAs && (
        <RestoreAsDialog
          id={item.trash_id}
          path={path}
          onDone={refresh}
          onClose={() => setRestoringAs(false)}
        />
      )}
      {isConfirming && (
        <ConfirmDialog
          title={`Delete ${name} permanently?`}
          action="Delete permanently"
          act={async () => {
            const purged = await callFiles('trash_purge', { trash_ids: [item.trash_id] })
            await refresh()
            return purged
          }}
          done={(purged) => formatPurge(name, purged)}
          onClose={() => setConfirming(false)}
        >
          <p>The content cannot be restored. The audit log keeps the deletion.</p>
        </ConfirmDialog>
      )}
    </li>
  )
}

type RestoreProps = {
  id: string
  /** The original path. */
  path: string
  onDone: () => Promise<void>
  onClose: () => void
}

/** Restores a file to another path; never replaces a file (TR1). */
function RestoreAsDialog({ id, path, onDone, onClose }: RestoreProps) {
  const field = useField(joinPath(parentPath(path), nextFreeName(baseName(path), 2)))
  const destination = field.value
  return (
    <FormDialog
      title={`Restore ${sanitizeText(baseName(path))} as`}
      action="Restore"
      act={() => callFiles('trash_restore', { trash_id: id, destination })}
      done={`Restored ${sanitizeText(baseName(destination))}.`}
      onDone={async () => {
        onClose()
        await onDone()
      }}
      onClose={onClose}
    >
      <TextField
        label="Path"
        data-autofocus
        required
        hint={describeHidden(destination) ?? 'Relative to the workspace'}
        {...field}
      />
    </FormDialog>
  )
}
