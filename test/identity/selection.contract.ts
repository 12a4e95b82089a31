import { describe, expect, test } from 'vitest'
import { atMcp, refusal, setup } from './identity.fixture.ts'
import type { Setup } from './identity.fixture.ts'

/** Tests of agents' tools on an engine; `open` creates a store. */
export function selectionContract(dialect: string, open: () => Promise<Setup>) {
  describe(`tools of agents on ${dialect}`, () => {
    test('RA8 an agent keeps the tools it was added with', async () => {
      const { add, identity, list, db } = await setup(await open())
      const chosen = { tools: ['files', 'worksync_claim'], exclude: ['delete_file'] }
      const { token } = await add('sales', ['*'], { ...chosen, read_only: true })
      const again = await setup({ db })
      for (const { identify } of [identity, again.identity])
        expect(await identify({ ...atMcp, bearer: token })).toMatchObject({
          id: 'sales',
          selection: { ...chosen, readOnly: true },
        })
      expect(await list()).toMatchObject([{ id: 'sales', ...chosen, read_only: true }])
    })

    test('SV18 an agent added without a selection has none', async () => {
      const { add, identity, list } = await setup(await open())
      const { token } = await add('sales', undefined, { exclude: [], read_only: false })
      expect(await identity.identify({ ...atMcp, bearer: token })).not.toHaveProperty('selection')
      const [listed] = await list()
      for (const key of ['tools', 'exclude', 'read_only']) expect(listed).not.toHaveProperty(key)
    })

    test("SV18 each field of an agent's tools changes separately and without a new token", async () => {
      const { add, setTools, identity } = await setup(await open())
      const { token } = await add('sales')
      const selection = async () =>
        (await identity.identify({ ...atMcp, bearer: token })).selection ?? {}
      expect(await setTools('sales', { exclude: ['delete_file'] })).toEqual({
        id: 'sales',
        exclude: ['delete_file'],
        message: 'Set the tools of sales: core; without delete_file.',
      })
      await setTools('sales', { tools: ['files', 'files'], read_only: true })
      expect(await selection()).toEqual({
        tools: ['files'],
        exclude: ['delete_file'],
        readOnly: true,
      })
      await setTools('sales', { read_only: false })
      await setTools('sales', { exclude: [] })
      expect(await selection()).toEqual({ tools: ['files'] })
    })

    test('RA8 unknown tools and an empty selection are refused, and nothing changes', async () => {
      const { add, setTools, list, identity } = await setup(await open())
      expect(await refusal(add('sales', undefined, { tools: ['file'] }))).toMatchObject({
        code: 'unknown_tools',
        message: 'Unknown tools: "file".',
        hint: expect.stringMatching(/^Did you mean files\? Use core, all, files, work or /),
      })
      // An agent cannot select tools for people, because it may not call them.
      expect(await refusal(add('sales', undefined, { tools: ['cowork_add_agent'] }))).toMatchObject(
        {
          code: 'unknown_tools',
        },
      )
      expect(identity.mode()).toBe('open')
      await add('sales', undefined, { tools: ['read_file'] })
      for (const change of [{ tools: [] }, { exclude: ['files'] }, { exclude: ['read_file'] }])
        expect(await refusal(setTools('sales', change))).toMatchObject({ code: 'empty_selection' })
      expect(await refusal(setTools('sales', { exclude: ['fles'] }))).toMatchObject({
        code: 'unknown_tools',
      })
      const [listed] = await list()
      expect(listed).toMatchObject({ tools: ['read_file'] })
      expect(listed).not.toHaveProperty('exclude')
    })

    test('SV18 an agent added again has its new tools', async () => {
      const { add, revoke, setTools, list } = await setup(await open())
      await add('sales', undefined, { tools: ['files'], exclude: ['delete_file'] })
      await revoke('sales')
      expect(await refusal(setTools('sales', { tools: ['work'] }))).toMatchObject({
        code: 'not_found',
      })
      await add('sales', undefined, { read_only: true })
      const [listed] = await list()
      expect(listed).toMatchObject({ status: 'active', read_only: true })
      expect(listed).not.toHaveProperty('tools')
    })
  })
}
