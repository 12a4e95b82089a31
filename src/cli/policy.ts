import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { jsonArgument, valueArgument } from './json-argument.ts'
import { table } from './output.ts'
import { plain } from './plain.ts'

type Verdict = {
  valid: boolean
  hard_stop: boolean
  violations: { rule_id: string; field: string; severity: string; reason: string }[]
  policy_id: string | null
  policy_description: string | null
  policy_rules_checked: number
  mapping_found: boolean
  message: string
}

export type CheckFlags = {
  readonly field?: string
  readonly value?: string
  readonly change?: string
}

/** What a policy would say to a change, before anybody proposes it (Y5). */
export async function checkPolicy(
  context: Context,
  agent: string,
  domain: string,
  { field, value, change }: CheckFlags,
): Promise<ExitCode> {
  if (value !== undefined && field === undefined)
    throw usage('--value is the value of a field.', 'Add --field.')
  if (value !== undefined && change !== undefined)
    throw usage('--value and --change say the same twice.', 'Use one of them.')
  const verdict = await createClient(context).call<Verdict>('cowork_validate_policy', {
    agent_id: agent,
    domain,
    ...(field !== undefined && { field }),
    ...(value !== undefined && { proposed_value: valueArgument(value) }),
    ...(change !== undefined && { proposed_change: jsonArgument('--change', change) }),
  })
  context.out.data(verdict, () => verdictLines(verdict))
  return verdict.hard_stop ? exitCode.denied : exitCode.ok
}

function verdictLines(verdict: Verdict): string[] {
  const { policy_id, policy_description, policy_rules_checked, mapping_found } = verdict
  const about = policy_description ? `: ${plain(policy_description)}` : ''
  return [
    plain(verdict.message),
    ...verdict.violations.map(
      ({ severity, field, reason, rule_id }) =>
        `  ${severity}  ${plain(field)}: ${plain(reason)} (rule ${plain(rule_id)})`,
    ),
    policy_id === null
      ? `No policy ${mapping_found ? 'applies' : 'is mapped to this agent and domain'}.`
      : `Policy ${plain(policy_id)}${about} (${policy_rules_checked} rules checked).`,
  ]
}

type Listed = {
  policies: { id: string; description: string; mode: string; rules: number }[]
  mappings: { agent_id: string; domain: string; policy_id: string; source: string }[]
  version: string
}

export async function listPolicies(context: Context): Promise<void> {
  const listed = await createClient(context).call<Listed>('cowork_list_policies')
  const { policies, mappings } = listed
  context.out.data(listed, () => [
    ...(policies.length === 0
      ? ['There are no policies: write some into the configuration.']
      : table(
          ['POLICY', 'MODE', 'RULES', 'ABOUT'],
          policies.map(({ id, mode, rules, description }) => [id, mode, rules, plain(description)]),
        )),
    '',
    ...(mappings.length === 0
      ? ['There are no mappings: agents may propose in any domain.']
      : table(
          ['AGENT', 'DOMAIN', 'POLICY', 'FROM'],
          mappings.map((one) => [
            plain(one.agent_id),
            plain(one.domain),
            plain(one.policy_id),
            one.source,
          ]),
        )),
  ])
}
