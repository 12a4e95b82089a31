import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { requirePerson } from './person.ts'

const markers = configSchema.parse({}).server.agent_markers
const check = (env: Record<string, string>, isTerminal = true) =>
  requirePerson('Approving', { env, markers, isTerminal })

test.each([['CLAUDECODE'], ['CODEX_SANDBOX'], ['CURSOR_AGENT'], ['GEMINI_CLI']])(
  'I10 %s marks a terminal of an agent: refused, with a note that the check is best effort',
  (name) => {
    expect(() => check({ [name]: '1' })).toThrow(
      expect.objectContaining({
        code: 'human_required',
        message: expect.stringContaining(name) as string,
        hint: expect.stringContaining('best effort') as string,
      }) as Error,
    )
  },
)

test('I10 allows a person at a terminal and refuses a script', () => {
  expect(() => check({ CODEX: '1', CLAUDECODE: '', MY_CLAUDECODE: '1' })).not.toThrow()
  expect(() => check({}, false)).toThrow('needs a person at a terminal')
})
