import { expect, test } from 'vitest'
import { choiceArguments, choiceQuery, chosenFields, isChosen, planTools } from './agent-plan.ts'
import type { TokenPlan } from './agent-plan.ts'

const plan: TokenPlan = {
  agent: 'desk',
  act: 'keep',
  token: 't',
  enablesAuth: false,
  selection: { tools: ['files'], exclude: ['delete_file'] },
  isStored: true,
}

test('SV18 options become the fields of a selection, and only those that were given', () => {
  expect(chosenFields({})).toEqual({})
  expect(isChosen(chosenFields({}))).toBe(false)
  const options = { tools: 'files, work', exclude: 'delete_file', readOnly: true }
  expect(chosenFields(options)).toEqual({
    tools: ['files', 'work'],
    exclude: ['delete_file'],
    read_only: true,
  })
  expect(chosenFields({ exclude: false, readOnly: false })).toEqual({
    exclude: [],
    read_only: false,
  })
})

test('RA8 a choice is written as arguments of cowork mcp or as parameters of the address', () => {
  const choice = { tools: ['files', 'a&b'], exclude: [], read_only: true, results: 'structured' }
  const words = ['--tools', 'files,a&b', '--read-only', '--results', 'structured']
  expect(choiceArguments(choice)).toEqual(words)
  expect(choiceQuery(choice)).toBe('?tools=files,a%26b&read_only=true&results=structured')
  expect(choiceArguments({})).toEqual([])
  expect(choiceQuery({})).toBe('')
})

test('SV18 the choice of a stored agent is stored with it, over what it had', () => {
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

test('SV18 the choice for an agent of cowork.yaml is part of the entry and allows no more', () => {
  const chosen = { tools: ['work'], exclude: ['worksync_move'] }
  expect(planTools({ ...plan, isStored: false }, chosen)).toEqual({
    selection: { tools: ['work'], exclude: ['delete_file', 'worksync_move'] },
    inEntry: chosen,
    isChange: false,
    text: 'Tools of this connection: work; without delete_file, worksync_move',
  })
})
