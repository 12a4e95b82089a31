import type { ToolResults } from '#wire'
import { toolCommand } from './command.ts'
import type { Entry } from './command.ts'
import { exitCode, usage } from './exit.ts'
import { jsonArgument, valueArgument } from './json-argument.ts'
import { text } from './option-kinds.ts'
import { tableOf } from './output.ts'
import { plain } from './plain.ts'
import { tryCommands, violationLines } from './policy-simulate.ts'
import { versionCommands } from './policy-versions.ts'

/** The rules agents work under: what they say, would say, and said before. */
export const policyCommand: Entry = {
  usage: 'policy',
  summary: 'the rules agents propose under',
  commands: [
    // Before anybody proposes the change (Y5).
    toolCommand({
      usage: 'check <agent> <domain>',
      summary: 'what they say to a change, without proposing it',
      options: {
        field: text('--field <name>', 'the field it is about'),
        value: text('--value <value>', 'the value it is to have'),
        change: text('--change <json>', 'the whole change, as JSON or @file'),
      },
      check({ options: { field, value, change } }) {
        if (value !== undefined && field === undefined)
          throw usage('--value is the value of a field.', 'Add --field.')
        if (value !== undefined && change !== undefined)
          throw usage('--value and --change say the same twice.', 'Use one of them.')
      },
      tool: 'cowork_validate_policy',
      input: ({ args: [agent, domain], options: { field, value, change } }) => ({
        agent_id: agent,
        domain,
        field,
        proposed_value: value === undefined ? undefined : valueArgument(value),
        proposed_change: change === undefined ? undefined : jsonArgument('--change', change),
      }),
      show: verdictLines,
      exit: ({ hard_stop: isBlocked }) => (isBlocked ? exitCode.denied : exitCode.ok),
    }),
    toolCommand({
      usage: 'list',
      summary: 'policies, and who works where under which',
      tool: 'cowork_list_policies',
      show: ({ policies, mappings }) => [
        ...tableOf(policies, 'There are no policies: write some into the configuration.', {
          POLICY: ({ id }) => id,
          MODE: ({ mode }) => mode,
          RULES: ({ rules }) => rules,
          ABOUT: ({ description }) => description,
        }),
        '',
        ...tableOf(mappings, 'There are no mappings: agents may propose in any domain.', {
          AGENT: (one) => one.agent_id,
          DOMAIN: (one) => one.domain,
          POLICY: (one) => one.policy_id,
          FROM: (one) => one.source,
        }),
      ],
    }),
    ...tryCommands,
    ...versionCommands,
  ],
}

function verdictLines(verdict: ToolResults['cowork_validate_policy']): string[] {
  const { policy_id: id, policy_description: about, mapping_found: isMapped } = verdict
  return [
    plain(verdict.message),
    ...violationLines(verdict.violations),
    id === null
      ? `No policy ${isMapped ? 'applies' : 'is mapped to this agent and domain'}.`
      : `Policy ${plain(id)}${about ? `: ${plain(about)}` : ''} (${verdict.policy_rules_checked} rules checked).`,
  ]
}
