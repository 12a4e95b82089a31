import { useQueryClient } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { Tabs } from '../shared/Tabs.tsx'
import { useEntries } from '../api/use-entries.ts'
import { changesDisk, diskKey, trashQuery } from './file-queries.ts'

const tabs = [
  { to: '/files', name: 'Workspace' },
  { to: '/files/grants', name: 'Grants' },
  { to: '/files/trash', name: 'Trash' },
  { to: '/files/size', name: 'Size' },
] as const

/** What agents have of their own, what they were given, what they threw away. */
export function FilesPage() {
  const client = useQueryClient()
  useEntries(changesDisk, () => {
    void client.invalidateQueries({ queryKey: diskKey })
    void client.invalidateQueries({ queryKey: trashQuery.queryKey })
  })
  return (
    <div className="flex h-full flex-col">
      <Tabs label="Files" tabs={tabs} />
      <Outlet />
    </div>
  )
}
