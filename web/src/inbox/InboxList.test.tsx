import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { ApiError } from '../api/client.ts'
import { renderPart } from '../shell/console.fixture.tsx'
import type { InboxFilters } from './filter.ts'
import { InboxList } from './InboxList.tsx'
import type { Inbox } from './use-inbox.ts'

async function show(part: Partial<Inbox>, filters: InboxFilters = {}) {
  let retries = 0
  const inbox: Inbox = {
    rows: [],
    counts: { all: 0 },
    snoozedCount: 0,
    status: 'success',
    error: null,
    retry: () => (retries += 1),
    more: undefined,
    ...part,
  }
  const does = () => {}
  const picks = { toggle: does, pick: does, extend: does, clear: does }
  const list = { current: undefined, picked: new Set<string>(), picks, onToggleGroup: does }
  await renderPart(<InboxList inbox={inbox} filters={filters} {...list} />)
  return () => retries
}

test('C13 the inbox shows a loading state', async () => {
  await show({ status: 'pending' })
  expect(screen.getByRole('status').textContent).toContain('Loading the inbox')
})

test('C13 a failed inbox shows the error and can be retried', async () => {
  const retries = await show({
    status: 'error',
    error: new ApiError({ code: 'unreachable', message: 'Cannot reach cowork.' }),
  })
  expect(screen.getByRole('alert').textContent).toContain('Cannot reach cowork.')
  screen.getByRole('button', { name: 'Try again' }).click()
  expect(retries()).toBe(1)
})

test('C13 an empty inbox has an empty state, and a filtered one links to all items', async () => {
  await show({})
  expect(screen.getByText('Inbox is empty')).toBeDefined()
  await show({}, { q: 'deal' })
  expect(screen.getAllByRole('link').some((link) => link.getAttribute('href') === '/inbox')).toBe(
    true,
  )
})
