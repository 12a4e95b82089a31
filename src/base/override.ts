/** How a person says no (T4). Apart from what it costs, so that the command line need not load that to know the words. */
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
