// Checks of the texts that models and clients read, for all tools.
import { expect, test } from 'vitest'
import { tools } from '../scripts/tool-docs.ts'
import { parseArguments } from '../src/dispatch/arguments.ts'
import { getExample } from '../src/dispatch/example.ts'
import { toAnnotations } from '../src/server/mcp/annotations.ts'
import { toWireTool } from '../src/server/mcp/wire.ts'

const all = tools()
const forAgents = all.filter(({ by }) => by !== 'human')
const names = (picked: typeof all) => picked.map(({ name }) => name)

test('SV17 a description in the default list has at most 200 characters', () => {
  const long = all.filter(({ core, description }) => core && description.length > 200)
  expect(names(long)).toEqual([])
})

test('SV17 a parameter description has at most 60 characters', () => {
  const long = forAgents.flatMap((tool) =>
    Object.entries(
      (toWireTool(tool).inputSchema.properties ?? {}) as Record<string, { description?: string }>,
    )
      .filter(([, { description = '' }]) => description.length > 60)
      .map(([name]) => `${tool.name}.${name}`),
  )
  expect(long).toEqual([])
})

test.each(all.map((tool) => [tool.name, tool] as const))(
  'SV27 the example call in errors about %s is valid',
  (_, tool) => {
    expect(parseArguments(tool, getExample(tool))).not.toHaveProperty('refusal')
  },
)

test('SV27 an alias maps to an existing argument', () => {
  const wrong = all.flatMap(({ name, aliases = {}, input }) =>
    Object.entries(aliases)
      .filter(([alias, to]) => alias in input.shape || !(to in input.shape))
      .map(([alias]) => `${name}.${alias}`),
  )
  expect(wrong).toEqual([])
})

test('RA13 every writing tool is destructive except the listed ones that only add', () => {
  const additive = all.filter((tool) => toAnnotations(tool).destructiveHint === false)
  expect(names(additive)).toEqual([
    'copy_file',
    'cowork_handoff',
    'cowork_log',
    'cowork_propose',
    'request_grant',
    'trash_restore',
    'worksync_add_backlog',
    'worksync_add_story',
    'worksync_comment',
    'worksync_create_sprint',
    'worksync_history',
    'worksync_register_project',
  ])
  const reads = all.filter((tool) => toAnnotations(tool).readOnlyHint)
  expect(names(reads.filter(({ effect }) => effect !== 'read'))).toEqual([])
  const idempotent = forAgents.filter((tool) => toAnnotations(tool).idempotentHint)
  expect(names(idempotent)).toEqual([
    'cowork_check_handoff',
    'file_restore_version',
    'request_grant',
    'worksync_sync',
  ])
})
