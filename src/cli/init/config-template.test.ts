import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { parseYaml } from '#base/config/yaml.ts'
import { renderConfigTemplate } from './config-template.ts'

test('SV5 the template contains only comments', () => {
  expect(parseYaml(renderConfigTemplate()).value).toBeNull()
})

test('SV5 each setting of the template, without its #, is the default', () => {
  const active = renderConfigTemplate().replaceAll(/^# ?/gm, '')
  const { value, problems } = parseYaml(active)
  expect(problems).toEqual([])
  const sections = Object.entries(value as object).filter(([, section]) => section !== null)
  expect(sections.length).toBeGreaterThan(15)
  expect(configSchema.parse(Object.fromEntries(sections))).toEqual(configSchema.parse({}))
})
