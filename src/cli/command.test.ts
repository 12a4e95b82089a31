import { expect, test } from 'vitest'
import type { CommandSpec } from './command.ts'
import { loadCommands } from './program.ts'

const all = (entries: readonly CommandSpec[]): CommandSpec[] =>
  entries.flatMap((entry) => [entry, ...all(entry.commands ?? [])])

const commands = await loadCommands()

test('K2 the program loads the file that defines a command', async () => {
  for (const { usage, alias } of commands)
    for (const name of [usage.replace(/ .*/, ''), ...(alias === undefined ? [] : [alias])]) {
      const loaded = await loadCommands(name)
      const isAll = loaded.length === commands.length
      expect(isAll, name).toBe(name === 'completion')
      expect(loaded.map((command) => command.usage)).toContain(usage)
    }
})

test('K2 each option name matches the attribute that commander sets', () => {
  for (const { usage, options = {} } of all(commands))
    for (const [name, option] of Object.entries(options)) {
      const attribute = option.attributeName()
      const negated = `no${attribute.charAt(0).toUpperCase()}${attribute.slice(1)}`
      expect([attribute, ...(option.negate ? [negated] : [])], usage).toContain(name)
    }
})
