import { isDeepStrictEqual } from 'node:util'
import { describeSelection } from '#base/selection-fields.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { joinSelections, parseNames, toFields, toSelection } from '#base/selection.ts'
import type { TokenPlan } from './agent-token.ts'

/** The options by which a person chooses tools (SV18). */
export type ToolOptions = {
  readonly tools?: string
  /** False for --no-exclude. */
  readonly exclude?: string | false
  readonly readOnly?: boolean
}

/** Returns the fields that were given; the daemon checks the names. */
export const chosenFields = ({ tools, exclude, readOnly }: ToolOptions): SelectionFields => ({
  ...(tools !== undefined && { tools: parseNames(tools) }),
  ...(exclude !== undefined && { exclude: exclude === false ? [] : parseNames(exclude) }),
  ...(readOnly !== undefined && { read_only: readOnly }),
})

export const isChosen = (fields: SelectionFields): boolean => Object.keys(fields).length > 0

/** A client's choice in its own entry: tools that are not stored with an agent, and the form of results. */
export type EntryChoice = SelectionFields & { readonly results?: string | undefined }

export const choiceArguments = ({ tools, exclude, read_only, results }: EntryChoice): string[] => [
  ...(tools ? ['--tools', tools.join(',')] : []),
  ...(exclude?.length ? ['--exclude', exclude.join(',')] : []),
  ...(read_only ? ['--read-only'] : []),
  ...(results === undefined ? [] : ['--results', results]),
]

/** Returns the parameters of an address, with the question mark. */
export function choiceQuery({ tools, exclude, read_only, results }: EntryChoice): string {
  const names = (list: readonly string[]) => list.map(encodeURIComponent).join(',')
  const parameters = [
    ...(tools ? [`tools=${names(tools)}`] : []),
    ...(exclude?.length ? [`exclude=${names(exclude)}`] : []),
    ...(read_only ? ['read_only=true'] : []),
    ...(results === undefined ? [] : [`results=${encodeURIComponent(results)}`]),
  ]
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

/** A choice of tools is stored with the agent, or else written into the client's entry (SV18). */
export type ToolPlan = {
  /** The tools that the client will have. */
  readonly selection: SelectionFields
  readonly inEntry?: SelectionFields
  /** An agent that is there already gets other tools. */
  readonly isChange: boolean
  readonly text: string
}

export function planTools(
  { agent, act, selection: before, isStored }: TokenPlan,
  chosen: SelectionFields,
): ToolPlan {
  if (!isStored) {
    const selection = toFields(joinSelections(toSelection(before) ?? {}, toSelection(chosen) ?? {}))
    const text = `Tools of this connection: ${describeSelection(selection)}`
    return { selection, inEntry: chosen, isChange: false, text }
  }
  const after = toSelection({ ...before, ...chosen })
  const selection = toFields(after)
  return {
    selection,
    isChange: act !== 'add' && !isDeepStrictEqual(after, toSelection(before)),
    text: `Tools of the agent ${agent}: ${describeSelection(selection)}`,
  }
}
