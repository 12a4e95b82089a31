import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryClient } from '../../api/queries.ts'
import type { Role } from '../../api/session.ts'
import { renderPart, startFakeDaemon, toolAnswer } from '../../shell/console.fixture.tsx'
import { approvalQuery } from '../approval-queries.ts'
import type { Detail } from '../approval.ts'
import { detail, grantRequest, handoff } from '../approval.fixture.ts'
import { useActions } from '../use-actions.ts'
import { ItemDetail } from './ItemDetail.tsx'

const Item = ({ id, mayDecide }: { id: string; mayDecide: boolean }) => (
  <ItemDetail id={id} actions={useActions([], id, () => {})} mayDecide={mayDecide} />
)

async function show(given: Detail, role: Role = 'owner') {
  queryClient.setQueryData(approvalQuery(given.id).queryKey, given)
  const view = <Item id={given.id} mayDecide={role !== 'viewer'} />
  return renderPart(view, { role, pending: [given] })
}

const buttons = () => {
  const footer = document.querySelector('footer')
  return [...(footer?.querySelectorAll('button') ?? [])].map(
    ({ firstChild }) => firstChild?.textContent,
  )
}
const press = (name: RegExp) => screen.getByRole('button', { name }).click()

test('C2 A8 a proposal shows reason, change, reasoning and actions', async () => {
  await show(detail())
  expect(screen.getByRole('heading', { level: 2 }).textContent).toContain('closed_won')
  expect(screen.getByRole('region', { name: 'Why approval is required' }).textContent).toContain(
    '0.72',
  )
  expect(screen.getByText('The contract is signed.')).toBeDefined()
  expect(buttons()).toEqual(['Approve', 'Edit and approve', 'Reject', 'Hand back'])
})

test('C2 a tool call shows its tool and can get a standing permission', async () => {
  await show(detail({ kind: 'call', action: 'send_mail', change: { to: 'bob' }, before: {} }))
  expect(screen.getByText('send_mail')).toBeDefined()
  expect(buttons()).toEqual(['Approve once', 'Allow…', 'Edit…', 'Reject', 'Hand back'])
})

test('C2 GR3 an access request shows the contents and offers the narrowest choice first', async () => {
  await show(
    detail({ kind: 'grant', grant: grantRequest({ sensitive: ['id_rsa'] }), reasoning: 'Totals' }),
  )
  expect(screen.getByText(/3 files and 1 folder/)).toBeDefined()
  expect(screen.getByText('id_rsa')).toBeDefined()
  const choices = screen.getByRole('list', { name: 'Access options' })
  const [narrowest] = choices.querySelectorAll('button')
  expect(narrowest?.textContent).toContain(buttons()[0])
  expect(buttons().slice(1)).toEqual(['Deny', 'Deny and don’t ask again'])
})

test('C2 H1 H2 a handoff shows its packet and is resolved, neither approved nor rejected', async () => {
  await show(detail({ kind: 'handoff', handoff: handoff() }))
  expect(screen.getByText('Two prices contradict each other.')).toBeDefined()
  expect(screen.getByText('Compared both lists')).toBeDefined()
  expect(buttons()).toEqual(['Resolve', 'Hand back'])
})

test('C2 a new domain is allowed only once a policy is chosen', async () => {
  startFakeDaemon(
    toolAnswer('cowork_list_policies', {
      policies: [{ id: 'sales', description: 'Deals', mode: 'suggest', rules: 1 }],
      version: '0a1b',
      mappings: [],
      active: null,
      versions: [],
      body: { policies: [], mappings: [] },
    }),
  )
  await show(detail({ kind: 'permission' }))
  await screen.findByRole('option', { name: 'sales: Deals (1 rule)' })
  const approve = screen.getByRole<HTMLButtonElement>('button', { name: /Allow in this domain/ })
  expect(approve.disabled).toBe(true)
})

test('C2 a finding offers to keep or revoke access, without an override', async () => {
  await show(detail({ kind: 'finding', requester: 'cowork' }))
  expect(buttons()).toEqual(['Keep access', 'Revoke access'])
})

test('A13 text of an agent is sanitized', async () => {
  await show(detail({ summary: 'pay \u202E100', reasoning: '<b>bold</b>' }))
  expect(screen.getByRole('heading', { level: 2 }).textContent).toContain('U+202E')
  expect(screen.getByText('<b>bold</b>')).toBeDefined()
})

test('I6 C2 a viewer has no decision buttons', async () => {
  await show(detail({ kind: 'grant', grant: grantRequest() }), 'viewer')
  expect(screen.getByText(/Reviewers and owners can decide/)).toBeDefined()
  expect(buttons()).toEqual([])
  expect(screen.queryByRole('list', { name: 'Access options' })).toBeNull()
})

test('A4 an approver cannot approve twice', async () => {
  await show(detail({ approvers: { needed: 2, given: ['anna'] } }))
  expect(screen.getByText('You approved. 1 more approval required.')).toBeDefined()
  expect(screen.getByText('1 of 2', { exact: false })).toBeDefined()
  expect(screen.getByRole<HTMLButtonElement>('button', { name: /^Approve/ }).disabled).toBe(true)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: /^Reject/ }).disabled).toBe(false)
})

test('C2 a deferred decision shows who made it and can be undone', async () => {
  const sent = startFakeDaemon(
    toolAnswer('cowork_undo', { outcomes: [{ id: 'p-1', status: 'pending' }] }),
  )
  const until = new Date(Date.now() + 8000).toISOString()
  await show(detail({ held: { decision: 'approve', by: 'anna', until } }))
  expect(screen.getByText(/Approved by you/)).toBeDefined()
  press(/^Undo/)
  await screen.findByRole('button', { name: /^Approve/ })
  expect(sent[0]?.body).toEqual({ arguments: { approval_ids: ['p-1'] } })
})

test('C2 B2 approving sends one decision and shows it immediately', async () => {
  const until = new Date(Date.now() + 8000).toISOString()
  const sent = startFakeDaemon(
    toolAnswer('cowork_decide', {
      outcomes: [{ id: 'p-1', status: 'held', until }],
      count: 1,
      errors: 0,
    }),
  )
  await show(detail())
  press(/^Approve/)
  expect(await screen.findByText(/Approved by you/)).toBeDefined()
  expect(sent[0]?.body).toEqual({
    arguments: { approval_ids: ['p-1'], decision: 'approve', hold: true },
  })
})

test('C13 an item shows a loading state and then the error', async () => {
  startFakeDaemon({
    '/api/approvals/gone': {
      status: 404,
      body: { error: { code: 'not_found', message: 'Not found: gone', hint: 'Run `cowork up`.' } },
    },
  })
  await renderPart(<Item id="gone" mayDecide />)
  expect(screen.getByRole('status').textContent).toContain('Loading the item')
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Not found: gone')
  expect(alert.querySelector('code')?.textContent).toBe('cowork up')
  expect(screen.getByRole('button', { name: 'Try again' })).toBeDefined()
  await waitFor(() => expect(screen.queryByText('Loading the item')).toBeNull())
})
