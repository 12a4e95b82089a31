/** The kinds of override (T4). Separate from their trust effects, so that the CLI does not load those. */
export const overrideTypes = [
  'agent_wrong',
  'missing_context',
  'edge_case',
  'human_preference',
  'policy_change',
] as const
export type OverrideType = (typeof overrideTypes)[number]

export const severities = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]
