import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { requirePerson } from './person.ts'

const markers = configSchema.parse({}).server.agent_markers
const by = (env: Record<string, string>, isTerminal = true) =>
  requirePerson('Approving', { env, markers, isTerminal })

test.each([['CLAUDECODE'], ['CODEX_SANDBOX'], ['CURSOR_AGENT'], ['GEMINI_CLI']])(
  'I10 %s shows that an agent drives the terminal: refused, and said to be best effort',
  (name) => {
    expect(() => by({ [name]: '1' })).toThrow(
      expect.objectContaining({
        code: 'human_required',
        message: expect.stringContaining(name) as string,
        hint: expect.stringContaining('best effort') as string,
      }) as Error,
    )
  },
)

test('I10 a person at a terminal may, a script may not', () => {
  expect(() => by({ CODEX: '1', CLAUDECODE: '', MY_CLAUDECODE: '1' })).not.toThrow()
  expect(() => by({}, false)).toThrow('needs a terminal')
})
