import type { CallAttempt, Verdict } from '#base/call-check.ts'
import type { Caller } from '#base/caller.ts'
import { unknownProjectError } from './journal.ts'
import type { Work } from './service.ts'

/**
 * Checks every work call: requires a token if the key is set (W2), imports edits of the files first
 * (W5), and refuses changes while a file is invalid (W6).
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
    const outage = work.root.trouble()
    // Without the data root, a daemon on a shared database still answers from the store. A SQLite
    // store has no other owner, and tools that touch files need the daemon that holds them.
    const touchesFiles = tool.run !== undefined
    if (outage !== undefined && (work.db.dialect === 'sqlite' || touchesFiles))
      return {
        mode: 'refuse',
        code: 'data_root_busy',
        ...outage,
      }
    await work.registry.reloadIfChanged()
    if (!work.root.isHolder) return { mode: 'act' }
    const { project } = input
    const names = typeof project === 'string' ? [project] : work.projects()
    const served = names.filter((name) => work.registry.get(name))
    // The store can still have the project, but its file is no longer read (W11).
    if (served.length < names.length && tool.name !== 'worksync_register_project')
      return notServedVerdict(work, String(project))
    await Promise.all(served.map((name) => work.projectSync.importEdits(name)))
    // One tool both reads and appends to the history.
    const isView = tool.name === 'worksync_history' && input['summary'] === undefined
    if (tool.effect === 'read' || isView) return { mode: 'act' }
    for (const name of served) {
      const broken = work.getInvalidFile(name)
      const [first] = broken?.problems ?? []
      if (broken && first)
        return {
          mode: 'refuse',
          code: 'work_file_broken',
          message: `${broken.file}:${first.line}:${first.column}: ${first.message}`,
          hint: 'Fix the file. Until then, reads return the last valid version and writes are refused.',
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

function notServedVerdict({ registry }: Work, project: string): Verdict {
  const { code, message, hint = '' } = unknownProjectError(project)
  const reason = registry.getSkipReason(project)
  if (reason === undefined) return { mode: 'refuse', code, message, hint }
  return { mode: 'refuse', code, message: reason, hint: 'Fix the file.' }
}

const refusal = {
  code: 'auth_required',
  message: 'Token required: work tools need WORKSYNC_API_KEY or another valid token.',
  hint: 'Send `Authorization: Bearer <key>`, pass `agent_token`, or set COWORK_TOKEN for `cowork mcp`.',
} as const

/**
 * Refuses callers without the key or another valid token at every endpoint if WORKSYNC_API_KEY is
 * set (W2).
 */
export const keyRefusal = ({ verified, kind }: Caller, isKeySet: boolean) =>
  isKeySet && !verified && kind !== 'system' ? refusal : undefined
