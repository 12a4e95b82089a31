import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { RawTool } from '../model.ts'

/** The parts of a tool that a model or a person relies on (U8). */
export type ToolDefinition = Pick<
  RawTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | '_meta'
>

export type Pin = {
  readonly tool: string
  readonly hash: string
  readonly definition: ToolDefinition
}

type QuarantineReason = 'new' | 'changed' | 'renamed' | 'flagged'

export type QuarantinedTool = {
  readonly tool: string
  readonly reason: QuarantineReason
  readonly hash: string
  readonly definition: ToolDefinition
  /** The accepted definition: of the same name, or of the name before. */
  readonly before?: ToolDefinition
}

export type PinCheck = {
  readonly accepted: readonly string[]
  readonly quarantined: readonly QuarantinedTool[]
  /** Accepted tools that the server does not list now. */
  readonly missing: readonly string[]
}

function toDefinition(tool: RawTool): ToolDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = tool
  // Undefined fields have no place in canonical JSON.
  return JSON.parse(
    JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations, _meta }),
  ) as ToolDefinition
}

const hashDefinition = (definition: ToolDefinition): string => sha256Hex(canonicalJson(definition))

export const toPin = (tool: RawTool): Pin => {
  const definition = toDefinition(tool)
  return { tool: tool.name, hash: hashDefinition(definition), definition }
}

/** Compares the listed tools with the accepted ones. A server without pins is new: nothing is quarantined yet. */
export function checkPins(listed: readonly RawTool[], pins: readonly Pin[]): PinCheck {
  const byName = new Map(pins.map((pin) => [pin.tool, pin]))
  const names = new Set(listed.map(({ name }) => name))
  const missing = pins.filter(({ tool }) => !names.has(tool))
  const accepted: string[] = []
  const quarantined: QuarantinedTool[] = []
  for (const tool of listed) {
    const { definition, hash } = toPin(tool)
    const pin = byName.get(tool.name)
    if (pin?.hash === hash) accepted.push(tool.name)
    else if (pin)
      quarantined.push({
        tool: tool.name,
        reason: 'changed',
        hash,
        definition,
        before: pin.definition,
      })
    else {
      const former = missing.find((gone) => isRenamed(gone.definition, definition))
      quarantined.push({
        tool: tool.name,
        reason: former ? 'renamed' : 'new',
        hash,
        definition,
        ...(former && { before: former.definition }),
      })
    }
  }
  return { accepted, quarantined, missing: missing.map(({ tool }) => tool) }
}

/** The same tool under another name: only name and title differ. */
function isRenamed(before: ToolDefinition, after: ToolDefinition): boolean {
  const { name: _a, title: _b, ...a } = before
  const { name: _c, title: _d, ...b } = after
  return canonicalJson(a) === canonicalJson(b)
}
