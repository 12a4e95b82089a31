import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryClient } from '../../api/queries.ts'
import { renderPart } from '../../shell/console.fixture.tsx'
import { approvalQuery } from '../approval-queries.ts'
import type { Detail } from '../approval.ts'
import { detail } from '../approval.fixture.ts'
import { CheckRow } from './CheckRow.tsx'

const check = (part: Partial<Detail> = {}) =>
  detail({
    kind: 'spot_check',
    check: {
      record: [{ seq: 7, at: '2026-11-15T12:00:00.000Z', type: 'call.done', outcome: 'done' }],
      consequences: {
        confirm: 'Counts as right.',
        wrong: 'A strike.',
        differently: 'Changes no credit.',
      },
      faults: [],
      undo: { tool: 'trash_restore', arguments: {}, text: 'Puts the file back.' },
    },
    ...part,
  })

async function show(given: Detail, { isOpen = true, mayDecide = true } = {}) {
  queryClient.setQueryData(approvalQuery(given.id).queryKey, given)
  const does = { onToggle: () => {}, onAnswered: () => {} }
  await renderPart(<CheckRow item={given} isOpen={isOpen} mayDecide={mayDecide} {...does} />)
}

test('T14 C2 an open check shows the action, its record and the consequence of each answer', async () => {
  await show(check())
  expect(screen.getByRole('link', { name: 'call done, done' }).getAttribute('href')).toBe(
    '/audit/7',
  )
  const answers = screen.getByRole('group', { name: 'Was this correct?' })
  for (const text of ['Counts as right.', 'A strike.', 'Changes no credit.'])
    expect(answers.textContent).toContain(text)
  expect(answers.querySelectorAll('button')).toHaveLength(3)
  expect(screen.getByText('Puts the file back.')).toBeDefined()
})

test('T14 a collapsed check is one line', async () => {
  await show(check(), { isOpen: false })
  const row = screen.getByRole('button', { name: /update_deal on deal_12345/ })
  expect(row.getAttribute('aria-expanded')).toBe('false')
  expect(screen.queryByRole('group')).toBeNull()
})

test('T14 an answered check shows its answer and accepts no second one', async () => {
  await show(check({ status: 'rejected' }))
  expect(screen.getByText('Marked as wrong')).toBeDefined()
  expect(screen.queryByRole('group', { name: 'Was this correct?' })).toBeNull()
})

test('I6 T14 a viewer can read a check and not answer it', async () => {
  await show(check(), { mayDecide: false })
  expect(screen.getByRole('link', { name: 'call done, done' })).toBeDefined()
  expect(screen.queryByRole('group', { name: 'Was this correct?' })).toBeNull()
})
