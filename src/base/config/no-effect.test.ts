import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSync, Visitor } from 'vite'
import { variables } from './env.ts'
import { loadYaml, tempHome } from '../../../test/base/config/config.fixture.ts'
import { settingsWithoutEffect } from './no-effect.ts'
import { configJsonSchema } from './schema.ts'

type Schema = {
  readonly const?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

const forms = (schema: Schema): Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(forms),
]

/** Every setting, such as `agents[].id`, except settings with a single valid value. */
function leaves(schema: Schema, path = ''): string[] {
  const all = forms(schema)
  const inner = all.flatMap(({ properties = {} }) => Object.entries(properties))
  const items = all.flatMap(({ items: one }) => (one ? leaves(one, `${path}[]`) : []))
  const below = [
    ...inner.flatMap(([key, one]) => leaves(one, path === '' ? key : `${path}.${key}`)),
    ...items.filter((one) => one !== `${path}[]`),
  ]
  if (below.length > 0) return [...new Set(below)]
  return all.some((one) => 'const' in one) && all.length === 1 ? [] : [path]
}

const source = join(import.meta.dirname, '..', '..')
const isShipped = (file: string) =>
  !/(^|\/)base\/config\/|(^|\/)config\.ts$/.test(file) &&
  !/(test|fixture|contract|samples)\.ts$/.test(file)

/** The names in the path and the code of each shipped file outside this folder, without comments and messages. */
const namesByFile = globSync('**/*.ts', { cwd: source })
  .filter(isShipped)
  .map((file) => {
    const names = new Set(file.split('/'))
    new Visitor({
      Identifier: ({ name }) => void names.add(name),
      Literal: ({ value }) => void (typeof value === 'string' && names.add(value)),
    }).visit(parseSync(file, readFileSync(join(source, file), 'utf8')).program)
    return names
  })

/** A snake_case name is specific enough. Any other name must occur with the name of its section. */
function isRead(leaf: string): boolean {
  const keys = leaf.split('.').map((key) => key.replaceAll('[]', ''))
  const [section = ''] = keys
  const key = keys.at(-1) ?? ''
  return namesByFile.some((names) => names.has(key) && (key.includes('_') || names.has(section)))
}

/** Aliases of settings, which the schema resolves. */
const aliases: Record<string, [yaml: string, read: (yaml: string) => unknown, value: unknown]> = {
  'trust.auto_promote_accuracy': [
    'trust: { auto_promote_accuracy: 0.93 }',
    (yaml) => loadYaml(yaml).config.trust.auto_promote_threshold,
    0.93,
  ],
  'handoff.handoff_timeout': [
    'handoff: { handoff_timeout: 93 }',
    (yaml) => loadYaml(yaml).config.handoff.timeout_seconds,
    93,
  ],
}

/** Read, but without effect while no kind of approval issues a token. */
const readInVain = ['approvals.token_ttl']

test('RM4 every setting is read or listed as having no effect', () => {
  const all = leaves(configJsonSchema())
  expect(all.length).toBeGreaterThan(140)
  const unread = all.filter((leaf) => !isRead(leaf) && !Object.hasOwn(aliases, leaf))
  const listed = Object.keys(settingsWithoutEffect)
  expect(unread.toSorted()).toEqual(listed.filter((key) => !readInVain.includes(key)).toSorted())
  for (const key of readInVain) expect(listed).toContain(key)
})

test('RM4 approvals.token_ttl is listed only while no kind of approval has a token', () => {
  const kinds = globSync('{governance,files,work}/**/*.ts', { cwd: source })
    .filter(isShipped)
    .filter((file) => /\btoken: true\b/.test(readFileSync(join(source, file), 'utf8')))
  expect(kinds).toEqual([])
})

test.each(Object.entries(aliases))('RM4 %s is an alias of a setting', (_, [yaml, read, value]) => {
  expect(read(yaml)).toBe(value)
  expect(loadYaml(yaml).warnings).toEqual([])
})

test('RM4 every environment variable has an effect or is listed', () => {
  const shipped = globSync('**/*.ts', { cwd: source }).filter(
    (file) => isShipped(file) || file === 'base/config/env.ts',
  )
  const text = shipped.map((file) => readFileSync(join(source, file), 'utf8')).join('\n')
  const inRule = /\b(?:[A-Z]+_)+[A-Z]+\b|\bTRANSPORT\b|\bPORT\b/g
  const rule = readFileSync(join(source, '..', 'docs', 'spec', 'server.md'), 'utf8')
  const [, sv6 = ''] = /\*\*SV6\*\* (.*)/.exec(rule) ?? []
  for (const name of new Set(sv6.match(inRule)))
    expect(text, name).toMatch(new RegExp(`['.]${name}\\b`))
  const all = leaves(configJsonSchema())
  for (const { path } of variables) expect(all).toContain(path.join('.'))
})

test('RM4 a setting without effect warns once with source and actual behavior', () => {
  expect(loadYaml('').warnings).toEqual([])
  const { home, load } = tempHome({
    '.cowork/cowork.yaml':
      'jobs:\n  auto_approve: true\ncleanup: { run_schedule: "0 2 * * *" }\nagents:\n  - { id: a, token: t, workspace_id: x }\n  - { id: b, token: u, workspace_id: y }\n',
  })
  const file = join(home, '.cowork', 'cowork.yaml')
  const env = {
    TEMP_CLEANUP_DAYS: '7',
    WORKSYNC_AUTO_SYNC: 'true',
    WORKSYNC_SYNC_DEBOUNCE: '2.0',
  }
  expect(load({ env }).warnings).toEqual([
    `agents[].workspace_id (${file}:5) has no effect in this version: agents are not grouped`,
    'cleanup.temp_retention_days (environment variable TEMP_CLEANUP_DAYS) has no effect in this version: files in temp/ are never deleted automatically',
    `cleanup.run_schedule (${file}:3) has no effect in this version: files in temp/ are never deleted automatically`,
    'work.auto_sync (environment variable WORKSYNC_AUTO_SYNC) has no effect in this version: only `worksync_sync` writes the vault',
    'work.sync_debounce (environment variable WORKSYNC_SYNC_DEBOUNCE) has no effect in this version: only `worksync_sync` writes the vault',
    `jobs.auto_approve (${file}:2) has no effect in this version: plans and jobs are not available`,
  ])
})
