import type { CallAttempt, Verdict } from '#base/call-check.ts'
import type { Caller } from '#base/caller.ts'
import { unknownProjectError } from './journal.ts'
import type { Work } from './service.ts'

/**
 * Before every call about work: the caller has a token where one is needed (W2), what people wrote meanwhile is taken over first (W5), and a file that
 * cannot be read is not written over (W6).
 */
export const checkWork =
  (work: Work) =>
  async ({
    tool,
    caller,
    input,
  }: Pick<CallAttempt, 'tool' | 'caller' | 'input'>): Promise<Verdict> => {
    if (tool.toolset !== 'work') return { mode: 'act' }
    const refusal = work.keyRefusal(caller)
    if (refusal) return { mode: 'refuse', ...refusal }
    const trouble = work.root.trouble()
    // Other daemons of the same database answer from the store; with a store of its own there is nothing to
    // answer. What a tool does to files is for the one that holds them.
    const isOnFiles = tool.run !== undefined
    if (trouble !== undefined && (work.db.dialect === 'sqlite' || isOnFiles))
      return {
        mode: 'refuse',
        code: 'data_root_busy',
        ...trouble,
      }
    await work.registry.notice()
    if (!work.root.isHolder) return { mode: 'act' }
    const { project } = input
    const names = typeof project === 'string' ? [project] : work.projects()
    const known = names.filter((name) => work.registry.get(name))
    // The store may still have it, but nobody looks at its file (W11).
    if (known.length < names.length && tool.name !== 'worksync_register_project')
      return notServed(work, String(project))
    await Promise.all(known.map((name) => work.keeper.notice(name)))
    // The history is looked at by the tool that also appends to it.
    const isView = tool.name === 'worksync_history' && input['summary'] === undefined
    if (tool.effect === 'read' || isView) return { mode: 'act' }
    for (const name of known) {
      const broken = work.broken(name)
      const [first] = broken?.problems ?? []
      if (broken && first)
        return {
          mode: 'refuse',
          code: 'work_file_broken',
          message: `${broken.file}:${first.line}:${first.column}: ${first.message}`,
          hint: 'Somebody has to mend the file; it is not written over. Reading goes on with what was known.',
          details: {
            file: broken.file,
            line: first.line,
            column: first.column,
            problems: broken.problems,
          },
        }
    }
    return { mode: 'act' }
  }

function notServed({ registry }: Work, project: string): Verdict {
  const { code, message, hint = '' } = unknownProjectError(project)
  const fault = registry.faultOf(project)
  if (fault === undefined) return { mode: 'refuse', code, message, hint }
  return { mode: 'refuse', code, message: fault, hint: 'Somebody has to mend the file.' }
}

const refusal = {
  code: 'auth_required',
  message: 'Work tools need WORKSYNC_API_KEY or another valid token.',
  hint: 'Send `Authorization: Bearer <key>`, pass `agent_token`, or set COWORK_TOKEN for `cowork mcp`.',
} as const

/** With WORKSYNC_API_KEY set, work is for callers with the key or another valid token, at every endpoint (W2). */
export const keyRefusal = ({ verified, kind }: Caller, isKeySet: boolean) =>
  isKeySet && !verified && kind !== 'system' ? refusal : undefined
