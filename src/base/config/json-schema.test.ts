import { expect, test } from 'vitest'
import { listProblems } from '../../../test/base/config/config.fixture.ts'
import { validateSchema, compileObjectSchema } from './json-schema.ts'

const accepts = (schema: Record<string, unknown>, value: unknown) =>
  compileObjectSchema(schema).safeParse(value).success

test.each([
  [{ budget: 10, region: 'emea' }, true],
  [{ budget: 10 }, true],
  [{ budget: -1 }, false],
  [{ budget: '10' }, false],
  [{ budget: 10, region: 'mars' }, false],
  [{ region: 'emea' }, false],
  [[], false],
  ['budget', false],
])('R1 a JSON Schema is asked about %j', (value, isAccepted) => {
  const schema = {
    properties: { budget: { type: 'number', minimum: 0 }, region: { enum: ['emea', 'apac'] } },
    required: ['budget'],
  }
  expect(accepts(schema, value)).toBe(isAccepted)
})

test('R1 property names are not treated as keywords', () => {
  const schema = { properties: { pattern: { type: 'string' }, minimum: { type: 'number' } } }
  expect(accepts(schema, { pattern: 'zebra', minimum: 1 })).toBe(true)
  expect(accepts(schema, { pattern: 1 })).toBe(false)
})

test.each([
  [{ properties: { name: { type: 'string', pattern: '(a+)+$' } } }, /it\.name has a pattern/],
  [{ properties: { all: { anyOf: [{ patternProperties: {} }] } } }, /has a patternProperties/],
  [{ properties: { budget: { minimum: 0 } } }, /it\.budget has minimum without a type/],
  [{ properties: { budget: { type: 'nonsense' } } }, /nonsense/],
  [{ properties: [] }, /properties is not a mapping/],
  [{ $ref: 'https://example.com/schema' }, /ref/],
  [{ not: { type: 'string' } }, /not/],
])('R1 what a JSON Schema cannot keep is refused: %j', (schema, why) => {
  expect(validateSchema(schema)).toMatch(why)
})

test('R1 a schema that is nested too deep is refused', () => {
  let schema: Record<string, unknown> = { type: 'string' }
  for (let depth = 0; depth < 1000; depth++) schema = { type: 'array', items: schema }
  expect(validateSchema({ properties: { list: schema } })).toMatch(/levels deep/)
})

test('R1 an unsupported schema is reported with its position', () => {
  const yaml = `reasoning_schemas:
  - id: deals
    json_schema:
      properties:
        budget: { minimum: 0 }
`
  expect(listProblems(yaml)).toEqual([
    '4:7 reasoning_schemas[0].json_schema is not supported: it.budget has minimum without a type: add the type',
  ])
})
