import { expect, test } from 'vitest'
import { atMcp, call, refusal, setup } from '../../test/identity/identity.fixture.ts'
import { selectionContract } from '../../test/identity/selection.contract.ts'

selectionContract('sqlite', async () => ({}))

test('SV18 the ledger records the tools of an agent', async () => {
  const { add, setTools, entries } = await setup()
  await add('sales', undefined, { tools: ['files'], read_only: true })
  expect(entries.at(-1)).toMatchObject({
    type: 'agent.added',
    data: { hash_prefix: expect.any(String), tools: ['files'], read_only: true },
  })
  await setTools('sales', { exclude: ['delete_file'] })
  expect(entries.at(-1)).toEqual({
    type: 'agent.changed',
    actor: { kind: 'human', id: 'owner', session: 's', verified: true },
    domain: 'cowork',
    subject: 'sales',
    ids: { call: call.id },
    data: { tools: ['files'], exclude: ['delete_file'], read_only: true },
  })
})

test('RA8 a configured agent has the tools from cowork.yaml', async () => {
  const agents = [{ id: 'dev', token: 't', exclude: ['delete_file'], read_only: true }]
  const { identity, list, setTools } = await setup({ agents, shared: { coworkToken: 'c' } })
  expect(await identity.identify({ ...atMcp, bearer: 't' })).toMatchObject({
    selection: { exclude: ['delete_file'], readOnly: true },
  })
  expect(await identity.identify({ ...atMcp, bearer: 'c' })).not.toHaveProperty('selection')
  expect((await list()).find(({ id }) => id === 'dev')).toMatchObject({
    exclude: ['delete_file'],
    read_only: true,
  })
  for (const id of ['dev', 'main'])
    expect(await refusal(setTools(id, { tools: ['all'] }))).toMatchObject({
      code: 'agent_read_only',
    })
})
