import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { entry } from '../api/entry.fixture.ts'
import type { Entry } from '../api/entry.ts'
import { renderPart } from '../shell/console.fixture.tsx'
import { EntryRow } from './EntryRow.tsx'

const show = (part: Partial<Entry>, isWide = true) => {
  const given = entry({ seq: 7, ...part })
  const row = { kind: 'entry', key: 'entry 7', entry: given, isEcho: false } as const
  const shown = { isNew: false, isWide, isSelected: false, filters: {} }
  return renderPart(<EntryRow row={row} {...shown} />)
}

test('C8 a row shows event, actor, domain and outcome and links to the entry', async () => {
  await show({
    type: 'call.refused',
    domain: 'crm.deals',
    data: { tool: 'send_mail', message: 'Halted by anna' },
  })
  const row = screen.getByRole('link')
  expect(row.getAttribute('href')).toBe('/audit/7')
  for (const text of ['Tried send_mail — Halted by anna', 'sales', 'crm.deals', 'refused'])
    expect(row.textContent?.toLowerCase()).toContain(text.toLowerCase())
})

test('A13 C8 untrusted text is marked and has no hidden characters', async () => {
  await show({ type: 'work.claimed', subject: 'shop/\u202Ea' })
  const strong = screen.getByRole('link').querySelector('b')
  expect(strong?.textContent).toBe('shop/U+202Ea')
})

test('C8 C11 a narrow row omits a successful outcome', async () => {
  await show({ type: 'call.done', data: { tool: 'read_file', effect: 'read' } }, false)
  const { textContent } = screen.getByRole('link')
  expect(textContent).toContain('Called read_file')
  expect(textContent).not.toContain('done')
})
