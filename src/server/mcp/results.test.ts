import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { toContent, toErrorResult } from './results.ts'
import { withEditNotice } from './earlier-run.ts'

const common = {
  title: 'For the test',
  description: 'For the test',
  toolset: 'test',
  effect: 'read',
  by: 'anyone',
  input: z.object({}),
  output: z.object({ word: z.string(), more: z.array(z.string()) }),
  read: () => Promise.reject(new Error('never called')),
} as const
const plain = defineTool({ ...common, name: 'plain' })
const lean = defineTool({ ...common, name: 'lean', lean: ({ word }) => ({ word }) })
const textOnly = defineTool({
  ...common,
  name: 'textOnly',
  textOnly: true,
  text: ({ word }) => `« ${word}`,
})
const output = { word: 'hello', more: [] }

test('SV19 a tool without a text returns its output as JSON in both halves', () => {
  expect(toContent(plain, output)).toEqual({
    content: [{ type: 'text', text: JSON.stringify(output) }],
    structuredContent: output,
  })
})

test('SV19 RA15 the lean form is sent in both halves unless the client requests structured results', () => {
  expect(toContent(lean, output)).toEqual({
    content: [{ type: 'text', text: '{"word":"hello"}' }],
    structuredContent: { word: 'hello' },
  })
  expect(toContent(lean, output, true)).toMatchObject({ structuredContent: output })
})

test('SV19 RA1 a complete text is sent alone unless the client requests structured results', () => {
  const content = [{ type: 'text', text: '« hello' }]
  expect(toContent(textOnly, output)).toEqual({ content })
  expect(toContent(textOnly, output, true)).toEqual({ content, structuredContent: output })
})

test('SV19 RA3 the text of an error is prose with every detail, and never JSON', () => {
  const details = {
    path: '/a',
    candidates: ['b', 'c'],
    current: { rev: 3 },
    auth_error: true,
    none: null,
  }
  const fault = { code: 'stale', message: 'Not found: /a.', hint: 'Read it again.', details }
  const { content, structuredContent, isError } = toErrorResult(fault)
  expect(isError).toBe(true)
  expect(structuredContent).toEqual({
    code: 'stale',
    message: fault.message,
    hint: fault.hint,
    ...details,
  })
  expect(content).toEqual([
    {
      type: 'text',
      text: 'Not found: /a. Read it again.\ncandidates: ["b","c"]\ncurrent: {"rev":3}',
    },
  ])
  for (const message of ['42', '"quoted"', '{"a": 1}', 'null', '[]']) {
    const [block] = toErrorResult({ code: 'odd', message }).content
    expect(block).toEqual({ type: 'text', text: `Error: ${message}` })
  }
})

test('SV19 a digit inside another number does not count as mentioned', () => {
  const fault = { code: 'x', message: 'The budget is 10.', details: { left: 1, isLast: true } }
  expect(toErrorResult(fault).content).toMatchObject([
    { text: expect.stringMatching(/left: 1\nisLast: true$/) },
  ])
})

test('B3 RA2 a person’s edit is in both halves', () => {
  const approved = { amount: 50 }
  const edit = { approval_id: 'a-1', approved_change: approved, edited_by: 'anna' }
  const { content, structuredContent } = withEditNotice(toContent(plain, output), edit)
  expect(structuredContent).toEqual({ ...output, ...edit })
  expect(JSON.stringify(content)).toContain('anna edited the arguments')
  expect(JSON.stringify(content)).toContain('50')
  expect(withEditNotice(toContent(textOnly, output), edit)).not.toHaveProperty('structuredContent')
})
