import { expect, test } from 'vitest'
import { commandLine, formatCommands } from './command.ts'
import { isDefault, nextStep, steps, parseSetupView } from './setup.ts'

test('C1 C9 an unknown step is the first one', () => {
  expect(parseSetupView({ step: 'folders' })).toEqual({ step: 'folders' })
  expect(parseSetupView({ step: 'nonsense' })).toEqual({})
  expect(parseSetupView({ step: 'workspace' })).toEqual({})
})

test('C9 each step is followed by the next, the last by none', () => {
  const ids = steps.map(({ id }) => id)
  expect(ids.map(nextStep)).toEqual([...ids.slice(1), undefined])
})

test('C9 the default workspace is recognized in every home folder', () => {
  expect(isDefault('/home/mara/Downloads/AI-Workspace')).toBe(true)
  expect(isDefault('/Users/mara/Downloads/AI-Workspace/')).toBe(true)
  expect(isDefault('/home/mara/Downloads/AI-Workspace-2')).toBe(false)
})

test('C9, K4 a command is quoted for every folder name', () => {
  expect(commandLine(undefined, 'restart')).toBe('cowork restart')
  const words = ['node', '/opt/co work/bin/cowork.mjs', '--state', "/home/o'neil/.state"]
  expect(commandLine(words, 'connect', 'codex')).toBe(
    String.raw`node '/opt/co work/bin/cowork.mjs' --state '/home/o'\''neil/.state' connect codex`,
  )
  expect(commandLine(['node', String.raw`C:\co work\cowork.mjs`], 'restart')).toBe(
    String.raw`node "C:\co work\cowork.mjs" restart`,
  )
})

test('C9, K4 commands in a text use the launcher', () => {
  const text = 'List it in `cowork.yaml`, then run `cowork restart`; cowork says how it went.'
  expect(formatCommands(text, undefined)).toBe(text)
  expect(formatCommands(text, ['node', '/opt/$& /cowork.mjs'])).toBe(
    "List it in `cowork.yaml`, then run `node '/opt/$& /cowork.mjs' restart`; cowork says how it went.",
  )
})
