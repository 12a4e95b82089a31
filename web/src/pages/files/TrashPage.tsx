import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api.ts'
import { isFolder } from '../../files/file.ts'
import type { Trashed } from '../../files/file.ts'
import { nameOf } from '../../files/paths.ts'
import { sizeText } from '../../files/sizes.ts'
import { Button, IconButton } from '../../parts/Button.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Plain } from '../../parts/Plain.tsx'
import { Empty, Loading, Trouble } from '../../parts/States.tsx'
import { plainString } from '../../plain.ts'
import { meQuery } from '../../queries.ts'
import { ago, fullTime, left } from '../../time.ts'
import { toast, toastProblem } from '../../toasts.ts'
import { useNow } from '../../use-now.ts'
import { Confirm } from '../settings/Confirm.tsx'
import { trashQuery } from './file-queries.ts'

/** What was deleted, and until when it can come back (TR1). */
export function TrashPage() {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery(trashQuery)
  const role = useQuery(meQuery).data?.person.role
  const items = data?.pages.flatMap((page) => page.items)
  if (!items)
    return error ? (
      <Trouble error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="the trash" rows={6} />
    )
  if (items.length === 0)
    return (
      <Empty icon="trash" title="The trash is empty">
        <p>What agents delete lies here for a while before it is gone.</p>
      </Empty>
    )
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-3 max-md:px-4">
      <ul aria-label="Deleted files" className="border-t border-line">
        {items.map((item) => (
          <Line key={item.trash_id} item={item} role={role} />
        ))}
      </ul>
      {hasNextPage && (
        <p className="p-3 text-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </div>
  )
}

function Line({ item, role }: { item: Trashed; role: string | undefined }) {
  const now = useNow()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const name = plainString(nameOf(item.path))
  const readAgain = () => client.invalidateQueries({ queryKey: trashQuery.queryKey })
  const restore = useMutation({
    mutationFn: () => call('trash_restore', { trash_id: item.trash_id }),
    onSuccess: async () => {
      toast(`${name} is back.`)
      await readAgain()
    },
    onError: toastProblem,
  })
  const at = Date.parse(item.deleted_at)
  return (
    <li className="flex items-center gap-3 border-b border-line py-2">
      <span className="self-start pt-0.5 text-soft">
        <Icon name={isFolder(item) ? 'folder' : 'file'} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="break-all">
          <Plain text={item.path} />
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-soft">
          <span>{sizeText(item.size_bytes)}</span>
          <span>
            deleted by <Plain text={item.deleted_by} />,{' '}
            <time dateTime={item.deleted_at} title={fullTime(at)}>
              {ago(at, now)}
            </time>
          </span>
          <span>gone in {left(Date.parse(item.expires_at), now)}</span>
        </p>
      </div>
      {role !== undefined && role !== 'viewer' && (
        <Button
          size="sm"
          icon="undo"
          aria-label={`Restore ${name}`}
          disabled={restore.isPending}
          onClick={() => restore.mutate()}
        >
          Restore
        </Button>
      )}
      {role === 'owner' && (
        <Menu
          trigger={<IconButton icon="more" label={`More about ${name}`} />}
          items={[
            { label: 'Delete for good', icon: 'cross', danger: true, act: () => setAsking(true) },
          ]}
        />
      )}
      {isAsking && (
        <Confirm
          title={`Delete ${name} for good?`}
          action="Delete for good"
          act={async () => {
            await call('trash_purge', { trash_ids: [item.trash_id] })
            await readAgain()
          }}
          done={`${name} is gone.`}
          onClose={() => setAsking(false)}
        >
          <p>Its content cannot be brought back. That it was deleted stays in the ledger.</p>
        </Confirm>
      )}
    </li>
  )
}
