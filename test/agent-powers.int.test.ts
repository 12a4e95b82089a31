import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { tools } from '../scripts/tool-docs.ts'
import type { Tool } from '../src/base/tool.ts'
import { statePaths } from '../src/base/state.ts'
import { toWireTool } from '../src/server/mcp/wire.ts'
import { listEntries, newFolder, openPlace } from './files.ts'

type Schema = {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly pattern?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Arguments that a schema accepts, with every optional one where `isFull`. Texts come from `text`. */
function sampleOf(
  schema: Schema,
  text: (key: string) => string,
  isFull: boolean,
  key = '',
): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.at(isFull ? -1 : 0)
  const form = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (form) return sampleOf(form, text, isFull, key)
  const [type] = [schema.type].flat()
  if (type === 'object' || schema.properties) {
    const { properties = {}, required = [] } = schema
    const wanted = Object.entries(properties).filter(([name]) => isFull || required.includes(name))
    return Object.fromEntries(
      wanted.map(([name, one]) => [name, sampleOf(one, text, isFull, name)]),
    )
  }
  if (type === 'array') return schema.items ? [sampleOf(schema.items, text, isFull, key)] : []
  if (type === 'number' || type === 'integer') return schema.minimum ?? 1
  return type === 'boolean' ? isFull : text(key)
}

const tables = ['agent', 'file_grant', 'halt', 'permission', 'person', 'policy_version']

/** Reads the tables that no agent may change, without the time of the last use of a grant. */
function powersIn(state: string): Record<string, unknown[]> {
  const db = new DatabaseSync(statePaths(state).store, { readOnly: true })
  const found = tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all()] as const)
  db.close()
  return Object.fromEntries(
    found.map(([name, rows]) => [
      name,
      rows.map((row) => ({ ...row, access_count: 0, last_accessed: null })),
    ]),
  )
}

test('GR8 no tool that an agent can call changes a grant, a policy or a limit', async () => {
  const { app, api, owner, grant, workspace } = await openPlace()
  writeFileSync(join(app.state, 'cowork.yaml'), '')
  const folder = newFolder()
  const file = join(folder, 'a.txt')
  writeFileSync(file, 'a')
  const given = await grant(folder)
  const before = powersIn(app.state)
  expect(before['file_grant']).toHaveLength(1)
  const config = readFileSync(join(app.state, 'cowork.yaml'), 'utf8')

  const texts = (name: string) => (key: string) => {
    if (/path|source|destination|repo/.test(key)) return key === 'source' ? file : `${name}.txt`
    if (/grant/.test(key)) return String(given['grant_id'])
    if (/agent/.test(key)) return 'writer'
    return key === 'domain' ? 'crm' : 'word'
  }
  const callWith = async (client: typeof api, tool: Tool, isFull: boolean) => {
    const schema = toWireTool(tool).inputSchema as Schema
    const args = sampleOf(schema, texts(tool.name), isFull) as Record<string, unknown>
    return (await client.call(tool.name, args))['code']
  }
  const all = tools()
  const register = all.find(({ name }) => name === 'worksync_register_project')
  if (register) expect(await callWith(owner, register, false)).toBeUndefined()
  for (const { name } of all.filter((tool) => !/^(create|copy)_file$/.test(tool.name)))
    writeFileSync(join(workspace, `${name}.txt`), 'there')

  const ran: string[] = []
  for (const tool of all) {
    const codes = [await callWith(api, tool, false), await callWith(api, tool, true)]
    if (codes.includes(undefined)) ran.push(tool.name)
    if (tool.by === 'human') expect(codes[0], tool.name).toBe('human_required')
  }
  expect(ran.length).toBeGreaterThan(25)
  const forPeople = all.filter(({ by }) => by === 'human').map(({ name }) => name)
  expect(ran.filter((name) => forPeople.includes(name))).toEqual([])
  expect(forPeople).toEqual(
    expect.arrayContaining([
      'add_grant',
      'revoke_grant',
      'cowork_save_policies',
      'cowork_set_trust',
    ]),
  )
  expect(powersIn(app.state)).toEqual(before)
  expect(readFileSync(join(app.state, 'cowork.yaml'), 'utf8')).toBe(config)
  const made = (await listEntries(app)).filter(
    ({ type, actor }) => actor.id === 'writer' && /^(grant|policy|permission|agent)\./.test(type),
  )
  expect(made.map(({ type }) => type)).toEqual([])
})
