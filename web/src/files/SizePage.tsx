import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pluralize, formatShare, formatSize } from './byte-size.ts'
import { buildUsageTree } from './usage.ts'
import type { UsageNode } from './usage.ts'
import { buttonClass } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EmptyState } from '../shared/States.tsx'
import { Crumbs } from './FileBar.tsx'
import { keepUnlessGone, usageQuery, useGrantRoot } from './file-queries.ts'
import { FileAwaited } from './FileError.tsx'
import { toFileLink, Treemap } from './Treemap.tsx'

const route = getRouteApi('/files/size')

/** Disk usage as a treemap and as a table (C11). */
export function SizePage() {
  const { path = '' } = route.useSearch()
  const root = useGrantRoot(path)
  const usage = useQuery(usageQuery(path))
  const data = keepUnlessGone(usage)
  const whole = data && buildUsageTree(data, path)
  const heading = useRef<HTMLHeadingElement>(null)
  const before = useRef(path)
  useEffect(() => {
    if (before.current === path) return
    before.current = path
    // The pressed area is gone: move the focus to the heading of the new folder.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [path])
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-4 max-md:px-4">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-3">
        <h2 ref={heading} tabIndex={-1} className="basis-full font-[550] outline-none">
          Disk usage
        </h2>
        <Crumbs to="/files/size" path={path} root={root} />
        {whole && (
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
            {formatSize(whole.bytes)} in {pluralize(whole.files, 'file', 'files')}
            <Link
              to="/files"
              search={path === '' ? {} : { path }}
              className={buttonClass('plain', 'sm')}
            >
              <Icon name="folder" size={14} />
              Open in Workspace
            </Link>
          </p>
        )}
      </header>
      {whole ? (
        whole.bytes === 0 ? (
          <EmptyState icon="folder" title="No files" />
        ) : (
          <div className="grid gap-4">
            <Treemap parts={whole.parts} />
            <SizeTable parts={whole.parts} bytes={whole.bytes} />
          </div>
        )
      ) : (
        <FileAwaited query={usage} what="disk usage" rows={6} />
      )}
    </div>
  )
}

const SizeTable = ({ parts, bytes }: { parts: readonly UsageNode[]; bytes: number }) => (
  <table className="w-full max-w-195 border-collapse text-left">
    <caption className="sr-only">Folders and files by size</caption>
    <thead className="text-xs text-faint">
      <tr className="[&>th]:h-8 [&>th]:border-b [&>th]:border-line [&>th]:font-semibold">
        <th scope="col">Name</th>
        <th scope="col" className="w-20 text-right">
          Size
        </th>
        <th scope="col" className="w-16 text-right">
          Share
        </th>
        <th scope="col" className="w-20 text-right max-md:hidden">
          Files
        </th>
      </tr>
    </thead>
    <tbody>
      {parts.map((part) => (
        <tr
          key={`${part.kind} ${part.path}`}
          className="h-9 max-md:h-11 [&>td]:border-b [&>td]:border-line"
        >
          <td className="max-w-0 pr-2">
            <PartName part={part} />
          </td>
          <td className="text-right">{formatSize(part.bytes)}</td>
          <td className="text-right text-soft">{formatShare(part.bytes, bytes)}</td>
          <td className="text-right text-soft max-md:hidden">{part.files.toLocaleString()}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const nameClass =
  'flex min-h-6 items-center gap-2 underline decoration-line underline-offset-3 hover:decoration-current max-md:min-h-9'

/** Links to the same page as the treemap area of this node. */
function PartName({ part: { kind, name, path } }: { part: UsageNode }) {
  if (kind === 'rest') return <span className="block truncate pl-6 text-soft">{name}</span>
  const label = (
    <>
      <Icon name={kind} className={kind === 'folder' ? 'text-accent' : 'text-soft'} />
      <SafeText as="span" className="min-w-0 truncate whitespace-pre" text={name} />
    </>
  )
  return kind === 'folder' ? (
    <Link to="/files/size" search={{ path }} aria-current={undefined} className={nameClass}>
      {label}
    </Link>
  ) : (
    <Link to="/files" search={toFileLink(path)} aria-current={undefined} className={nameClass}>
      {label}
    </Link>
  )
}
