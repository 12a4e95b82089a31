import { useState } from 'react'
import { request } from '../api/client.ts'
import { isFiltered, queryOf } from './filter.ts'
import type { Filters } from './filter.ts'
import { Button } from '../shared/Button.tsx'
import { Menu } from '../shared/Menu.tsx'
import { searchOf } from '../api/query-string.ts'
import { saveBlob } from '../shared/save-blob.ts'
import { dayOf } from '../shared/time.ts'
import { toast, toastProblem } from '../shared/toast.ts'

export function ExportMenu({ filters }: { filters: Filters }) {
  const [isBusy, setBusy] = useState(false)
  const what = isFiltered(filters) ? 'filtered entries' : 'all entries'
  const save = (format: 'jsonl' | 'csv') => {
    setBusy(true)
    download(format, filters)
      .then(() => toast(`Saved ${what} as ${format === 'csv' ? 'CSV' : 'JSONL'}.`), toastProblem)
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
        { label: 'JSONL: one entry a line', act: () => save('jsonl') },
        { label: 'CSV: for a spreadsheet', act: () => save('csv') },
      ]}
    />
  )
}

/** A link cannot carry the bearer token, so the file comes by fetch and is handed to the browser. */
async function download(format: 'jsonl' | 'csv', filters: Filters) {
  const response = await request(`/api/ledger/export${searchOf({ ...queryOf(filters), format })}`)
  saveBlob(await response.blob(), `cowork-ledger-${dayOf(Date.now())}.${format}`)
}
