import { expect, test } from 'vitest'
import { commandLine, withCommand } from './command.ts'
import { isDefault, stepAfter, steps, welcomeViewOf } from './welcome.ts'

test('C1 C9 an unknown step is the first one', () => {
  expect(welcomeViewOf({ step: 'folders' })).toEqual({ step: 'folders' })
  expect(welcomeViewOf({ step: 'nonsense' })).toEqual({})
  expect(welcomeViewOf({ step: 'workspace' })).toEqual({})
})

test('C9 each step leads to the next, and the last one out', () => {
  const ids = steps.map(({ id }) => id)
  expect(ids.map(stepAfter)).toEqual([...ids.slice(1), undefined])
})

test('C9 the default is known in every home', () => {
  expect(isDefault('/home/mara/Downloads/AI-Workspace')).toBe(true)
  expect(isDefault('/Users/mara/Downloads/AI-Workspace/')).toBe(true)
  expect(isDefault('/home/mara/Downloads/AI-Workspace-2')).toBe(false)
})

test('C9, K4 a command is copied as it runs there, whatever its folder is called', () => {
  expect(commandLine(undefined, 'restart')).toBe('cowork restart')
  const words = ['node', '/opt/co work/bin/cowork.mjs', '--state', "/home/o'neil/.state"]
  expect(commandLine(words, 'connect', 'codex')).toBe(
    String.raw`node '/opt/co work/bin/cowork.mjs' --state '/home/o'\''neil/.state' connect codex`,
  )
  expect(commandLine(['node', String.raw`C:\co work\cowork.mjs`], 'restart')).toBe(
    String.raw`node "C:\co work\cowork.mjs" restart`,
  )
})

test('C9, K4 a sentence names its commands as they run there', () => {
  const text = 'List it in `cowork.yaml`, then run `cowork restart`; cowork says how it went.'
  expect(withCommand(text, undefined)).toBe(text)
  expect(withCommand(text, ['node', '/opt/$& /cowork.mjs'])).toBe(
    "List it in `cowork.yaml`, then run `node '/opt/$& /cowork.mjs' restart`; cowork says how it went.",
  )
})
