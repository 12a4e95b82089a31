import type { Caller } from '#base/caller.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { CallResult } from './dispatch.ts'
import { isListed, isUsable } from './listing.ts'

/** Explains how to call the tools that a hint names and that the caller's list lacks (SV18). */
export function addUnlistedToolHint(
  answer: CallResult,
  registry: ToolRegistry,
  caller: Caller,
  isOpen: boolean,
): CallResult {
  if (answer.status === 'done') return answer
  const named = new Set(answer.hint?.match(/\b[a-z]+(_[a-z]+)+\b/g))
  const { selection } = caller
  const unlisted = [...named].filter((name) => {
    const tool = registry.find(name)
    return tool && isUsable(tool, caller, isOpen) && !isListed(tool, { selection, isOpen })
  })
  const [first] = unlisted
  if (first === undefined) return answer
  const list = `${unlisted.join(', ')} ${unlisted.length === 1 ? 'is' : 'are'} not in your list`
  const call = `cowork_use {"tool": "${first}", "arguments": {…}}`
  return { ...answer, hint: `${answer.hint} ${list}: call ${call}.` }
}
