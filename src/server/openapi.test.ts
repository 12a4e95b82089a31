import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'

/** The part of OpenAPI 3.1 and JSON Schema 2020-12 that readers depend on. */
const typeName = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const schema: z.ZodType = z.lazy(() =>
  z.union([
    z.boolean(),
    z
      .looseObject({
        type: z.union([typeName, z.array(typeName)]).optional(),
        properties: z.record(z.string(), schema).optional(),
        required: z.array(z.string()).optional(),
        items: schema.optional(),
        additionalProperties: schema.optional(),
        anyOf: z.array(schema).optional(),
        oneOf: z.array(schema).optional(),
        allOf: z.array(schema).optional(),
        $defs: z.never('references do not lead here').optional(),
      })
      .refine(
        ({ required = [], properties = {} }) => required.every((name) => name in properties),
        {
          error: 'requires what it does not have',
        },
      ),
  ]),
)
const content = z
  .record(z.string().regex(/^[\w-]+\/[\w.+-]+$/), z.strictObject({ schema }))
  .refine((media) => Object.keys(media).length > 0)
const reference = z.strictObject({ $ref: z.string() })
const response = z.union([reference, z.strictObject({ description: z.string(), content })])
const parameter = z
  .strictObject({
    name: z.string(),
    in: z.enum(['path', 'query']),
    required: z.boolean(),
    description: z.string().optional(),
    schema,
  })
  .refine((one) => one.in === 'query' || one.required)
const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.strictObject({ required: z.literal(true), content }).optional(),
  responses: z
    .record(z.string().regex(/^([1-5]\d\d|default)$/), response)
    .refine((all) => Object.keys(all).some((status) => status.startsWith('2'))),
})
const document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.strictObject({ url: z.url() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(
    z.string().startsWith('/'),
    z
      .partialRecord(z.enum(['get', 'post', 'delete']), operation)
      .refine(({ get }) => get?.requestBody === undefined, { error: 'GET takes a body' }),
  ),
  components: z.strictObject({
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })),
    responses: z.record(z.string(), response),
    schemas: z.record(z.string(), schema),
  }),
})

const text = () => readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
const operationsOf = ({ paths }: z.output<typeof document>) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, one]) => (one ? [{ path, method, ...one }] : [])),
  )

test('SV22 docs/openapi.json is valid OpenAPI 3.1', () => {
  const { error } = document.safeParse(JSON.parse(text()))
  expect(error && z.prettifyError(error)).toBeUndefined()
})

test('SV22 every reference resolves', () => {
  const whole = JSON.parse(text()) as unknown
  const references = [...text().matchAll(/"\$ref": "(.*)"/g)].map(([, pointer = '']) => pointer)
  expect(references.length).toBeGreaterThan(10)
  for (const pointer of new Set(references)) {
    const found = pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], whole)
    expect(found, pointer).toBeDefined()
  }
})

test('SV22 every operation has a unique id and a parameter for each path placeholder', () => {
  const operations = operationsOf(document.parse(JSON.parse(text())))
  expect(new Set(operations.map((one) => one.operationId)).size).toBe(operations.length)
  for (const { path, parameters } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const given = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
    expect(given, path).toEqual(named)
  }
})

test('SV21 SV22 only sign-in and health checks are unauthenticated', () => {
  const open = operationsOf(document.parse(JSON.parse(text())))
    .filter(({ security }) => security?.length === 0)
    .map(({ method, path }) => `${method} ${path}`)
  expect(open).toEqual(['get /healthz', 'get /readyz', 'post /api/sessions'])
})
