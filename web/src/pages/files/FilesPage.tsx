import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useEntries } from '../../use-entries.ts'
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
      <nav
        aria-label="Files"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-5 [scrollbar-width:none] max-md:px-2"
      >
        {tabs.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            className="flex h-10 shrink-0 items-center border-b-2 border-transparent px-2 text-soft -outline-offset-2 hover:text-text aria-[current=page]:border-text aria-[current=page]:font-[550] aria-[current=page]:text-text max-md:h-11"
          >
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </div>
  )
}
