import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { countText, sizeText } from '../../files/sizes.ts'
import { partsOf } from '../../files/usage.ts'
import type { Part } from '../../files/usage.ts'
import { percent } from '../../inbox/words.ts'
import { Plain } from '../../parts/Plain.tsx'
import { Empty, Loading } from '../../parts/States.tsx'
import { standing, usageQuery } from './file-queries.ts'
import { FileTrouble } from './FileTrouble.tsx'
import { SizeCrumbs } from './SizeCrumbs.tsx'
import { Treemap } from './Treemap.tsx'

const route = getRouteApi('/files/size')

/** Where the room goes: as areas, and as a table of the same numbers (C11). */
export function SizePage() {
  const { path = '' } = route.useSearch()
  const usage = useQuery(usageQuery(path))
  const { error, refetch } = usage
  const data = standing(usage)
  if (!data)
    return error ? (
      <FileTrouble error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="sizes" rows={6} />
    )
  const { parts, bytes, files } = partsOf(data, path)
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-4 max-md:px-4">
      <header className="flex flex-wrap items-baseline gap-x-4 gap-y-1 pb-3">
        <h2 className="basis-full font-[550]">Where the room goes</h2>
        <SizeCrumbs path={path} />
        <p className="text-soft">
          {sizeText(bytes)} in {countText(files, 'file', 'files')}
        </p>
      </header>
      {bytes === 0 ? (
        <Empty icon="folder" title="Nothing takes up room here" />
      ) : (
        <div className="grid gap-4">
          <Treemap parts={parts} />
          <SizeTable parts={parts} bytes={bytes} />
        </div>
      )}
    </div>
  )
}

const SizeTable = ({ parts, bytes }: { parts: readonly Part[]; bytes: number }) => (
  <table className="w-full max-w-195 border-collapse text-left">
    <caption className="sr-only">Folders by size</caption>
    <thead className="text-xs text-faint">
      <tr className="[&>th]:h-8 [&>th]:border-b [&>th]:border-line [&>th]:font-semibold">
        <th scope="col">Folder</th>
        <th scope="col" className="w-20 text-right">
          Size
        </th>
        <th scope="col" className="w-16 text-right">
          Share
        </th>
        <th scope="col" className="w-20 text-right">
          Files
        </th>
      </tr>
    </thead>
    <tbody>
      {parts.map((part) => (
        <tr key={part.path ?? `/${part.name}`} className="h-9 [&>td]:border-b [&>td]:border-line">
          <td className="max-w-0 truncate pr-2">
            {part.path === undefined ? (
              <span className="text-soft">{part.name}</span>
            ) : (
              <Link
                to="/files"
                search={{ path: part.path }}
                className="underline decoration-line underline-offset-3 hover:decoration-current"
              >
                <Plain text={part.name} />
              </Link>
            )}
          </td>
          <td className="text-right">{sizeText(part.bytes)}</td>
          <td className="text-right text-soft">{percent(part.bytes / bytes)}</td>
          <td className="text-right text-soft">{part.files.toLocaleString()}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
