import { expect, test } from 'vitest'
import { toKey } from './terminal.ts'

test.each([
  ['a', { name: 'a' }, { name: 'a', text: 'a' }],
  ['G', { name: 'g' }, { name: 'G', text: 'G' }],
  ['ü', {}, { name: 'ü', text: 'ü' }],
  [' ', { name: 'space' }, { name: 'space', text: ' ' }],
  ['\r', { name: 'return' }, { name: 'enter' }],
  ['\n', { name: 'enter' }, { name: 'enter' }],
  ['\u0003', { name: 'c', ctrl: true }, { name: 'ctrl-c' }],
  [undefined, { name: 'up' }, { name: 'up' }],
  [undefined, { name: 'escape', meta: true }, { name: 'escape' }],
  ['\u001ba', { name: 'a', meta: true }, undefined],
  ['\u0001', { name: 'a', ctrl: true }, { name: 'ctrl-a' }],
  ['\t', { name: 'tab' }, undefined],
  [undefined, { name: 'paste-start' }, { name: 'paste-start' }],
  [undefined, { name: 'f1' }, undefined],
])('K6 %j with %j is the key %j', (text, keypress, key) => {
  expect(toKey(text, keypress)).toEqual(key)
})
