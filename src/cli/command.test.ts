import { expect, test } from 'vitest'
import type { Entry } from './command.ts'
import { commands } from './program.ts'

const all = (entries: readonly Entry[]): Entry[] =>
  entries.flatMap((entry) => [entry, ...all(entry.commands ?? [])])

test('K2 each command reads its options by the names that the table gives them', () => {
  for (const { usage, options = {} } of all(commands))
    for (const [name, option] of Object.entries(options)) {
      const attribute = option.attributeName()
      const negated = `no${attribute.charAt(0).toUpperCase()}${attribute.slice(1)}`
      expect([attribute, ...(option.negate ? [negated] : [])], usage).toContain(name)
    }
})
