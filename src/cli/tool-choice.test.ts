import { expect, test } from 'vitest'
import {
  choiceArguments,
  choiceQuery,
  toSelectionFields,
  hasFields,
  planTools,
} from './agent-plan.ts'
import type { TokenPlan } from './agent-plan.ts'

const plan: TokenPlan = {
  agent: 'desk',
  act: 'keep',
  token: 't',
  enablesAuth: false,
  selection: { tools: ['files'], exclude: ['delete_file'] },
  isStored: true,
}

test('SV18 maps only the given options to selection fields', () => {
  expect(toSelectionFields({})).toEqual({})
  expect(hasFields(toSelectionFields({}))).toBe(false)
  const options = { tools: 'files, work', exclude: 'delete_file', readOnly: true }
  expect(toSelectionFields(options)).toEqual({
    tools: ['files', 'work'],
    exclude: ['delete_file'],
    read_only: true,
  })
  expect(toSelectionFields({ exclude: false, readOnly: false })).toEqual({
    exclude: [],
    read_only: false,
  })
})

test('RA8 formats a selection as arguments of cowork mcp or as URL parameters', () => {
  const choice = { tools: ['files', 'a&b'], exclude: [], read_only: true, results: 'structured' }
  const words = ['--tools', 'files,a&b', '--read-only', '--results', 'structured']
  expect(choiceArguments(choice)).toEqual(words)
  expect(choiceQuery(choice)).toBe('?tools=files,a%26b&read_only=true&results=structured')
  expect(choiceArguments({})).toEqual([])
  expect(choiceQuery({})).toBe('')
})

test('SV18 stores the selection of a stored agent over its previous one', () => {
  expect(planTools(plan, { read_only: true })).toEqual({
    selection: { tools: ['files'], exclude: ['delete_file'], read_only: true },
    isChange: true,
    text: 'Tools of the agent desk: files; without delete_file; read only',
  })
  expect(planTools(plan, { tools: ['files'] }).isChange).toBe(false)
  expect(planTools(plan, {}).isChange).toBe(false)
  const added = { ...plan, act: 'add', selection: {} } as const
  expect(planTools(added, { tools: ['work'] })).toMatchObject({ isChange: false })
})

test('SV18 the selection for an agent of cowork.yaml goes into the entry and only narrows', () => {
  const chosen = { tools: ['work'], exclude: ['worksync_move'] }
  expect(planTools({ ...plan, isStored: false }, chosen)).toEqual({
    selection: { tools: ['work'], exclude: ['delete_file', 'worksync_move'] },
    inEntry: chosen,
    isChange: false,
    text: 'Tools of this connection: work; without delete_file, worksync_move',
  })
})
