import { expect, test } from 'vitest'
import { checkMarkdown, checkSource } from './language-rules.ts'

const rules = (source: string) => checkSource('x.tsx', source).map(({ line, rule }) => [line, rule])

test('language: names limits maxX and exported functions with a verb', () => {
  expect(rules('const mostFiles = 1\nexport const kindOf = (row) => row.kind')).toEqual([
    [1, 'name a limit maxX or minX'],
    [2, 'start a function name with a verb'],
  ])
  expect(rules('const maxFiles = 1\nexport const kinds = [1]\nfunction isIn() {}')).toEqual([])
})

test('language: reports a dialect name once per file', () => {
  expect(rules('const told = 1\nlog(told)\nlog(told)')).toEqual([
    [1, 'use the term of the glossary'],
  ])
})

test('language: comments start with the subject', () => {
  expect(rules('// What waits.\nconst a = 1\n/** Who asked. */\nconst b = 2')).toEqual([
    [1, 'start with the subject'],
    [3, 'start with the subject'],
  ])
  expect(rules('// The queue holds\n// What is a continuation line.')).toEqual([])
})

test('language: strings, templates and JSX text use plain words', () => {
  expect(rules("const a = 'It is no text.'")).toEqual([[1, 'use plain words']])
  expect(rules('const a = `Try ${name} anew.`')).toEqual([[1, 'use plain words']])
  expect(rules('const a = <p>Closed for good</p>')).toEqual([[1, 'use plain words']])
  expect(rules("const a = 'It is no longer there.'")).toEqual([])
  expect(rules("const a = 'There is no cap.'")).toEqual([])
  expect(rules("const a = 'anew'")).toEqual([])
})

test('language: a question may start with its question word', () => {
  expect(rules("const a = 'Who can approve this?'")).toEqual([])
})

test('language: Markdown is checked without code and continuation lines', () => {
  const page = ['# What waits', '', '```', 'What is code', '```', 'A line', 'Of prose and `anew`.']
  expect(checkMarkdown(page.join('\n'))).toEqual([
    { line: 1, rule: 'start with the subject', text: 'What waits' },
  ])
})
