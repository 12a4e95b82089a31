import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CoworkError } from './errors.ts'
import { describeSelection } from './selection-fields.ts'
import {
  checkSelection,
  isCallable,
  isSelected,
  joinSelections,
  parseNames,
  toFields,
  toSelection,
} from './selection.ts'
import type { ToolSelection } from './selection.ts'
import type { Tool } from './tool.ts'

type Selectable = Pick<Tool, 'name' | 'toolset' | 'effect' | 'by' | 'core' | 'isRequestOnly'>

const tool = (name: string, toolset: string, more: Partial<Selectable> = {}): Selectable => ({
  name,
  toolset,
  effect: 'read',
  by: 'anyone',
  ...more,
})
const tools = [
  tool('cowork_status', 'cowork', { core: true }),
  tool('cowork_propose', 'cowork', { core: true, effect: 'write', by: 'agent' }),
  tool('cowork_approve', 'cowork', { effect: 'write', by: 'human' }),
  tool('cowork_redact', 'cowork', { effect: 'destructive', by: 'human' }),
  tool('read_file', 'files', { core: true }),
  tool('file_versions', 'files'),
  tool('delete_file', 'files', { core: true, effect: 'write' }),
  tool('trash_purge', 'files', { effect: 'destructive' }),
  tool('request_grant', 'files', { core: true, effect: 'write', isRequestOnly: true }),
  tool('worksync_get', 'work', { core: true }),
  tool('worksync_move', 'work', { effect: 'write' }),
]
const selected = (selection: ToolSelection) =>
  tools.filter((one) => isSelected(selection, one)).map(({ name }) => name)
const callable = (selection: ToolSelection) => tools.filter((one) => isCallable(selection, one))

const ofAgents = tools.filter(({ by }) => by !== 'human')
const groups = ['core', 'all', 'cowork', 'files', 'work']
const name = fc.constantFrom(...groups, ...ofAgents.map((t) => t.name))
const selections: fc.Arbitrary<ToolSelection> = fc.record(
  { tools: fc.array(name), exclude: fc.array(name), readOnly: fc.boolean() },
  { requiredKeys: [] },
)

function captureError(selection: ToolSelection): CoworkError | undefined {
  try {
    checkSelection(selection, tools)
    return undefined
  } catch (error) {
    return error as CoworkError
  }
}

test('SV18 parseNames splits at commas with or without spaces', () => {
  expect(parseNames(' files, work ,,read_file')).toEqual(['files', 'work', 'read_file'])
  expect(parseNames('')).toEqual([])
})

test('SV18 toolsets, names, core and all select the listed tools; the default is core', () => {
  const core = tools.filter((one) => one.core).map((one) => one.name)
  expect(selected({})).toEqual(core)
  expect(selected({ tools: ['core'] })).toEqual(core)
  expect(selected({ tools: ['all'] })).toEqual(tools.map((one) => one.name))
  expect(selected({ tools: ['work', 'read_file'] })).toEqual([
    'read_file',
    'worksync_get',
    'worksync_move',
  ])
  expect(selected({ tools: ['files'], exclude: ['delete_file', 'trash_purge'] })).toEqual([
    'read_file',
    'file_versions',
    'request_grant',
  ])
})

test('RA8 an unknown name is refused with the closest and all valid names', () => {
  expect(captureError({ tools: ['files', 'wrok'], exclude: ['foo'] })).toMatchObject({
    code: 'unknown_tools',
    message: 'Unknown tools: "wrok", "foo".',
    hint: 'Did you mean work? Use core, all, cowork, files, work or tool names, separated by commas.',
    details: { valid: expect.arrayContaining(['core', 'all', 'work', 'read_file']) },
  })
  expect(captureError({ exclude: ['delet_file'] })?.hint).toContain('Did you mean delete_file?')
  expect(captureError({ tools: ['zzzzzzzz'] })?.hint).toMatch(/^Use core, all, /)
  expect(captureError({ tools: ['x'.repeat(5000)] })?.message.length).toBeLessThan(200)
})

test('SV18 an empty selection is refused', () => {
  for (const empty of [
    { tools: [] },
    { exclude: ['all'] },
    { tools: ['files'], exclude: ['files'] },
    { tools: ['delete_file'], readOnly: true },
  ])
    expect(captureError(empty)).toMatchObject({ code: 'empty_selection' })
})

test('SV18 a selection of known names is refused only if it selects nothing', () => {
  fc.assert(
    fc.property(selections, (selection) => {
      const isAnySelected = ofAgents.some((one) => isSelected(selection, one))
      expect(captureError(selection) === undefined).toBe(isAnySelected)
    }),
  )
})

test('SV18 an excluded tool is not listed and not callable', () => {
  fc.assert(
    fc.property(selections, fc.constantFrom(...tools), (selection, one) => {
      for (const key of [one.name, one.toolset, 'all', ...(one.core ? ['core'] : [])]) {
        const without = { ...selection, exclude: [...(selection.exclude ?? []), key] }
        expect(isCallable(without, one)).toBe(false)
        expect(isSelected(without, one)).toBe(false)
      }
    }),
  )
})

test('SV18 every listed tool is callable, and `tools` alone forbids nothing', () => {
  fc.assert(
    fc.property(selections, (selection) => {
      for (const one of tools)
        if (isSelected(selection, one)) expect(isCallable(selection, one)).toBe(true)
      const { tools: _, ...rest } = selection
      expect(callable(selection)).toEqual(callable(rest))
    }),
  )
})

test('SV18 read-only allows tools that read, request and report only', () => {
  expect(callable({ readOnly: true }).map((one) => one.name)).toEqual([
    'cowork_status',
    'cowork_propose',
    'read_file',
    'file_versions',
    'request_grant',
    'worksync_get',
  ])
  fc.assert(
    fc.property(selections, (selection) => {
      for (const { effect, by } of callable({ ...selection, readOnly: true })) {
        expect(effect).not.toBe('destructive')
        expect(by === 'human' && effect !== 'read').toBe(false)
      }
    }),
  )
})

test('SV18 a connection selects its own list but cannot lift an exclusion of its agent', () => {
  fc.assert(
    fc.property(selections, selections, (agent, connection) => {
      const joined = joinSelections(agent, connection)
      const both = callable(agent).filter((one) => isCallable(connection, one))
      expect(callable(joined)).toEqual(both)
      expect(joined.tools).toEqual(connection.tools ?? agent.tools)
    }),
  )
})

test('SV18 a selection and its fields convert to each other', () => {
  expect(toSelection({})).toBeUndefined()
  expect(toSelection({ exclude: [], read_only: false })).toBeUndefined()
  expect(toSelection({ tools: [] })).toEqual({ tools: [] })
  fc.assert(
    fc.property(selections, (selection) => {
      const again = toSelection(toFields(selection)) ?? {}
      for (const one of tools) {
        expect(isSelected(again, one)).toBe(isSelected(selection, one))
        expect(isCallable(again, one)).toBe(isCallable(selection, one))
      }
      expect(toSelection(toFields(again)) ?? {}).toEqual(again)
    }),
  )
})

test('SV18 describeSelection formats one line', () => {
  expect(describeSelection({})).toBe('core')
  expect(
    describeSelection({ tools: ['files', 'work'], exclude: ['delete_file'], read_only: true }),
  ).toBe('files, work; without delete_file; read only')
})
