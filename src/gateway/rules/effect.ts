import type { RawTool } from '../model.ts'

export type Effect = 'read' | 'write' | 'destructive'

/** Verbs that contradict `readOnlyHint`: annotations are claims of the server. */
const writeVerbs =
  /(?:^|[^a-z])(?:add|append|apply|archive|assign|cancel|close|commit|copy|create|delete|deploy|destroy|disable|drop|edit|enable|erase|execute|exec|grant|insert|install|invite|kill|merge|move|overwrite|pay|post|publish|purge|push|put|remove|rename|reset|restore|revoke|run|send|set|stop|submit|transfer|truncate|uninstall|update|upload|wipe|write)(?![a-z])/

/** Splits camelCase, so that `deleteFile` has the verb `delete`. */
const toWords = (name: string): string =>
  name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()

export const contradictsReadOnly = ({ name, annotations }: RawTool): boolean =>
  annotations?.readOnlyHint === true && writeVerbs.test(toWords(name))

/**
 * Returns the effect of an upstream tool (U10): the override of the owner, else what its annotations claim. Without
 * annotations it writes. A read-only claim that the tool's own name contradicts is not believed.
 */
export function getEffect(tool: RawTool, override?: Effect): Effect {
  if (override) return override
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {}
  if (readOnlyHint === true) return contradictsReadOnly(tool) ? 'destructive' : 'read'
  return destructiveHint === true ? 'destructive' : 'write'
}
