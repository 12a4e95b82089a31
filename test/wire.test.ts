import { expect, test } from 'vitest'
import { routeAnswers, toolResults } from '#wire'
import { tools } from '../scripts/tool-docs.ts'
import { buildRoutes } from '../src/server/http.ts'

test('architecture: the wire registry has the schema of each tool’s output', () => {
  const outputs = Object.fromEntries(tools().map(({ name, output }) => [name, output]))
  expect(Object.keys(toolResults).toSorted()).toEqual(Object.keys(outputs).toSorted())
  for (const [name, schema] of Object.entries(toolResults)) expect(outputs[name]).toBe(schema)
})

test('architecture: the wire registry has the schema of each JSON response', () => {
  const routes = buildRoutes({} as Parameters<typeof buildRoutes>[0]).flatMap((route) =>
    'media' in route.answer ? [] : [[`${route.method} ${route.path}`, route.answer] as const],
  )
  const answers = Object.fromEntries(routes)
  expect(Object.keys(routeAnswers).toSorted()).toEqual(Object.keys(answers).toSorted())
  for (const [name, schema] of Object.entries(routeAnswers)) expect(answers[name]).toBe(schema)
})
