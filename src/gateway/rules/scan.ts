import { toSkeleton } from '#base/confusables.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { RawTool } from '../model.ts'
import { contradictsReadOnly } from './effect.ts'

export type ToolFlag = {
  readonly tool: string
  readonly kind: 'invisible' | 'instruction' | 'look_alike' | 'shadow' | 'annotation'
  readonly message: string
}

/** Invisible characters that carry text to a model which no person sees. Joiners and variation selectors are in emoji. */
const invisible = /(?!\u{200c}|\u{200d}|[\u{fe00}-\u{fe0f}])\p{Default_Ignorable_Code_Point}/u

/** Phrases that speak to a model instead of describing the tool. */
const instructions: readonly RegExp[] = [
  /\bignore\b.{0,40}\b(?:previous|prior|above|other|all)\b.{0,30}\binstructions?\b/i,
  /<\s*\/?\s*(?:important|system|instructions?|secret|hidden)\s*>/i,
  /\b(?:do not|don't|never)\b.{0,30}\b(?:tell|mention|inform|reveal|show)\b.{0,30}\b(?:user|person|human|anyone)\b/i,
  /\b(?:before|after|instead of|prior to)\b.{0,20}\b(?:using|calling|running)\b.{0,40}\b(?:any|other|another|this)\b.{0,20}\btools?\b/i,
  /\b(?:you must|always)\b.{0,40}\b(?:read|send|include|pass|attach|forward)\b.{0,60}\b(?:file|key|token|password|secret|credential|conversation|history)s?\b/i,
  /~\/\.(?:ssh|aws|cursor|config)\b|\bid_rsa\b|\.env\b.{0,30}\b(?:content|read|pass)/i,
  /\byou are (?:now|an?)\b.{0,40}\b(?:assistant|agent|model)\b/i,
]

/** Returns what a person should look at before agents may use these tools (U8). */
export function scanTools(
  server: string,
  tools: readonly RawTool[],
  others: ReadonlyMap<string, readonly RawTool[]>,
): readonly ToolFlag[] {
  const names = new Map<string, string>()
  return tools.flatMap((tool) => {
    const flags: ToolFlag[] = []
    const flag = (kind: ToolFlag['kind'], message: string) =>
      void flags.push({ tool: tool.name, kind, message })
    const texts = listTexts(tool)
    const hidden = texts.find((text) => invisible.test(text))
    if (hidden !== undefined)
      flag('invisible', `Contains invisible characters: ${sanitizeText(hidden, 120)}`)
    const command = texts.find((text) => instructions.some((pattern) => pattern.test(text)))
    if (command !== undefined)
      flag(
        'instruction',
        `Contains instructions for a model: ${sanitizeText(excerpt(command), 160)}`,
      )
    const shape = toSkeleton(tool.name).toLowerCase()
    const twin = names.get(shape)
    if (twin !== undefined) flag('look_alike', `Looks like the tool ${sanitizeText(twin, 100)}.`)
    else names.set(shape, tool.name)
    const shadowed = findShadowed(server, tool, others)
    if (shadowed) flag('shadow', `Has the name of a tool of the server ${shadowed}.`)
    if (contradictsReadOnly(tool))
      flag('annotation', 'Claims to be read-only, but its name says that it changes something.')
    return flags
  })
}

/** Every text that a model reads: descriptions at any depth, titles, names of arguments. */
function listTexts(tool: RawTool): readonly string[] {
  const texts: string[] = [tool.name]
  const visit = (value: unknown, depth: number): void => {
    if (depth > 16) return
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) for (const item of value) visit(item, depth + 1)
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        texts.push(key)
        visit(item, depth + 1)
      }
  }
  visit(
    [tool.title, tool.description, tool.annotations?.title, tool.inputSchema, tool.outputSchema],
    0,
  )
  return texts
}

function excerpt(text: string): string {
  const at = Math.min(
    ...instructions.map((pattern) => text.search(pattern)).filter((index) => index >= 0),
  )
  return text.slice(Math.max(0, at - 20), at + 140)
}

const findShadowed = (
  server: string,
  { name }: RawTool,
  others: ReadonlyMap<string, readonly RawTool[]>,
): string | undefined =>
  [...others].find(
    ([other, tools]) => other !== server && tools.some((tool) => tool.name === name),
  )?.[0]
