import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useKeys } from '../shared/use-keys.ts'
import { kinds, removeFilters, isFiltered, toQuery } from './filter.ts'
import type { Filters, Kind } from './filter.ts'
import { Button } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { FilterPopover } from './Filters.tsx'
import type { Verify } from './use-verify.ts'
import { request } from '../api/client.ts'
import { Menu } from '../shared/Menu.tsx'
import { toSearchString } from '../api/query-string.ts'
import { saveBlob } from '../shared/save-blob.ts'
import { toDayKey } from '../shared/time.ts'
import { toast, toastProblem } from '../shared/toast.ts'

type Props = {
  filters: Filters
  verify: Verify
  isFilterOpen: boolean
  onFilterOpen: (isOpen: boolean) => void
}

export const Toolbar = ({ filters, verify, isFilterOpen, onFilterOpen }: Props) => (
  <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
    <KindPills filters={filters} />
    <div className="flex w-full min-w-0 items-center justify-end gap-1.5 @3xl:w-auto @3xl:flex-1">
      <SearchBox key={filters.q ?? ''} filters={filters} />
      <FilterPopover filters={filters} isOpen={isFilterOpen} onOpen={onFilterOpen} />
      <ExportMenu filters={filters} />
      <Button
        size="sm"
        icon="decision"
        aria-label="Verify ledger"
        disabled={verify.state.status === 'running'}
        onClick={verify.start}
      >
        <span className="hidden @3xl:inline">Verify</span>
      </Button>
    </div>
  </div>
)

const KindPills = ({ filters }: { filters: Filters }) => (
  <nav
    aria-label="Entry types"
    className="-mx-4 -my-1 flex w-[calc(100%+32px)] gap-1.5 overflow-x-auto px-4 py-1 [scrollbar-width:none] @3xl:mx-0 @3xl:w-auto @3xl:px-0"
  >
    <KindPill filters={filters} kind={undefined} />
    {(Object.keys(kinds) as Kind[]).map((kind) => (
      <KindPill key={kind} filters={filters} kind={kind} />
    ))}
  </nav>
)

function KindPill({ filters, kind }: { filters: Filters; kind: Kind | undefined }) {
  const isOn = filters.kind === kind
  return (
    <Link
      to="/audit"
      search={withKind(filters, kind)}
      activeOptions={{ exact: true, includeSearch: true }}
      className={`flex h-6 shrink-0 items-center rounded-full border px-2.25 text-xs max-md:h-8 max-md:px-3 ${
        isOn ? 'border-text bg-text text-bg' : 'border-line text-soft hover:border-edge'
      }`}
    >
      {kind ? kinds[kind].label : 'All'}
    </Link>
  )
}

/** Removes the exact type, which could contradict the kind. */
const withKind = (filters: Filters, kind: Kind | undefined): Filters => ({
  ...removeFilters(filters, 'kind', 'type'),
  ...(kind && { kind }),
})

/** Updates the URL on submit, so that Back undoes one search and not one letter. */
function SearchBox({ filters }: { filters: Filters }) {
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => input.current?.focus() })
  const search = (q: string) => {
    void navigate({
      to: '/audit',
      search: { ...removeFilters(filters, 'q'), ...(q !== '' && { q }) },
    })
  }
  return (
    <form
      role="search"
      className="flex h-7 min-w-24 flex-1 items-center gap-1.5 rounded border border-line bg-panel pl-2 text-faint focus-within:border-edge max-md:h-9 @3xl:max-w-60"
      onSubmit={(event) => {
        event.preventDefault()
        search(input.current?.value.trim() ?? '')
      }}
    >
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        aria-label="Find in entries"
        placeholder="Find in entries"
        defaultValue={filters.q}
        maxLength={200}
        // The clear button or Escape empties the field.
        onInput={(event) => event.currentTarget.value === '' && filters.q && search('')}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        className="h-full min-w-0 flex-1 bg-transparent pr-1 text-xs text-text outline-none max-md:text-[16px]"
      />
    </form>
  )
}

function ExportMenu({ filters }: { filters: Filters }) {
  const [isBusy, setBusy] = useState(false)
  const what = isFiltered(filters) ? 'filtered entries' : 'all entries'
  const save = (format: 'jsonl' | 'csv') => {
    setBusy(true)
    download(format, filters)
      .then(() => toast(`Exported ${what} as ${format === 'csv' ? 'CSV' : 'JSONL'}.`), toastProblem)
      .finally(() => setBusy(false))
  }
  return (
    <Menu
      trigger={
        <Button size="sm" icon="download" aria-label={`Export ${what}`} disabled={isBusy}>
          <span className="hidden @3xl:inline">Export</span>
        </Button>
      }
      items={[
        { label: 'JSONL, one entry per line', act: () => save('jsonl') },
        { label: 'CSV, for spreadsheets', act: () => save('csv') },
      ]}
    />
  )
}

/** Downloads the file with fetch, because a link cannot send the bearer token. */
async function download(format: 'jsonl' | 'csv', filters: Filters) {
  const response = await request(
    `/api/ledger/export${toSearchString({ ...toQuery(filters), format })}`,
  )
  saveBlob(await response.blob(), `cowork-ledger-${toDayKey(Date.now())}.${format}`)
}
