import type { CallAttempt, Verdict } from '#base/call-check.ts'
import * as z from 'zod'
import type { ErrorCode } from '#base/errors.ts'
import { findClosestWord } from '#base/config/suggest.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { haltScopePattern } from './halt.ts'
import type { Halts } from './halt.ts'
import { approvalResults } from './wire.ts'

const scope = z
  .string()
  .regex(
    haltScopePattern,
    'must be all, agent:<id>, domain:<name> or server:<name>, without leading or trailing spaces in the name',
  )
  .default('all')
  .describe('Scope: all, agent:<id>, domain:<name> or server:<name>')

/** Returns undefined for a known name, otherwise the known names for a suggestion. */
export type SuggestNames = (
  kind: 'agent' | 'domain',
  name: string,
) => Promise<readonly string[] | undefined>

const haltName = 'cowork_halt'
const unknownCodes: Readonly<Record<string, ErrorCode>> = {
  agent: 'unknown_agent',
  server: 'unknown_server',
}

/**
 * Refuses an unknown name, because a typo must not look like a successful halt (A9). This is a
 * check and not part of the transaction, because it reads more of the store than a halt can wait
 * for.
 */
export const checkHaltScope =
  (suggestNames: SuggestNames) =>
  async ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): Promise<Verdict> => {
    const scope = tool.name === haltName && input['force'] !== true ? String(input['scope']) : 'all'
    const at = scope.indexOf(':')
    const [word, name] = [scope.slice(0, at), scope.slice(at + 1)]
    const names =
      scope === 'all' ? undefined : await suggestNames(word === 'agent' ? 'agent' : 'domain', name)
    if (!names) return { mode: 'act' }
    const close = findClosestWord(name, names)
    return {
      mode: 'refuse',
      code: unknownCodes[word] ?? 'unknown_domain',
      message: `Unknown ${word}: ${JSON.stringify(name)}. Nothing was halted.`,
      hint: `${close === undefined ? '' : `Did you mean ${word}:${close}? `}To halt a name before its first call, set force (--force on the command line).`,
    }
  }

export const haltTools = (halts: Halts): Tool[] => [
  defineTool({
    ...forPeople.write,
    name: haltName,
    title: 'Halt',
    description:
      'Refuse new calls of all agents, or of one agent, domain or server, until resumed.',
    idempotent: true,
    isUrgent: true,
    input: z.object({
      scope,
      reason: z.string().max(500).default(''),
      force: z
        .boolean()
        .default(false)
        .describe('Also halt an unknown name; by default that is an error'),
    }),
    output: approvalResults.cowork_halt,
    transact: (tx, input, call) => halts.set(tx, call, input.scope, input.reason),
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_resume',
    title: 'Resume',
    description: 'Remove a halt.',
    input: z.object({ scope }),
    output: approvalResults.cowork_resume,
    async transact(tx, input, call) {
      await halts.lift(tx, call, input.scope)
      return { scope: input.scope, resumed: true }
    },
  }),
]
