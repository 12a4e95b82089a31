import { Outlet } from '@tanstack/react-router'
import { Tabs } from '../shared/Tabs.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { affectsFiles, diskKey, trashQuery } from './file-queries.ts'

const tabs = [
  { to: '/files', name: 'Workspace' },
  { to: '/files/grants', name: 'Grants' },
  { to: '/files/trash', name: 'Trash' },
  { to: '/files/size', name: 'Size' },
] as const

export function FilesPage() {
  useRefetch(affectsFiles, { queryKey: diskKey })
  useRefetch(affectsFiles, trashQuery)
  return (
    <div className="flex h-full flex-col">
      <Tabs label="Files" tabs={tabs} />
      <Outlet />
    </div>
  )
}
