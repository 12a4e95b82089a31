import { expect, test } from 'vitest'
import type { Entry } from './command.ts'
import { loadCommands } from './program.ts'

const all = (entries: readonly Entry[]): Entry[] =>
  entries.flatMap((entry) => [entry, ...all(entry.commands ?? [])])

const commands = await loadCommands()

test('K2 a command is found in the file that the program loads for it', async () => {
  for (const { usage, alias } of commands)
    for (const name of [usage.replace(/ .*/, ''), ...(alias === undefined ? [] : [alias])]) {
      const loaded = await loadCommands(name)
      const isAll = loaded.length === commands.length
      expect(isAll, name).toBe(name === 'completion')
      expect(loaded.map((one) => one.usage)).toContain(usage)
    }
})

test('K2 each command reads its options by the names that the table gives them', () => {
  for (const { usage, options = {} } of all(commands))
    for (const [name, option] of Object.entries(options)) {
      const attribute = option.attributeName()
      const negated = `no${attribute.charAt(0).toUpperCase()}${attribute.slice(1)}`
      expect([attribute, ...(option.negate ? [negated] : [])], usage).toContain(name)
    }
})
