import { sanitizeText } from '#base/sanitize.ts'
import { isSelected } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'

/**
 * Some clients show models these lines but no tool descriptions, so the lines name the tools
 * (SV17).
 */
const groups = [
  {
    toolset: 'cowork',
    text: 'cowork_* tools: cowork_propose an action with consequences outside cowork before you do it and follow its result; cowork_check_approval; cowork_handoff to give work to a person; cowork_log what you did.',
  },
  {
    toolset: 'files',
    text: 'File tools (list_files, read_file, search_files, create_file, update_file, move_file, delete_file): relative paths are in your workspace; for the user’s files (full or ~/ paths) call request_grant first. Deleted files go to the trash, changed files keep versions.',
  },
  {
    toolset: 'work',
    text: 'worksync_* tools share sprints, stories and backlog with people and other agents. Work loop: worksync_ready → worksync_claim → do it → worksync_done.',
  },
]

const always = [
  'Pending is not failure: a person decides. Do not work around it, not with other tools either. cowork runs an approved call itself; do other work and call cowork_check_approval for its result. A refusal names the next step.',
  'More tools: cowork_find_tools {query}, then cowork_use {tool, arguments}. Call unlisted tools that a result names in the same way.',
]

export type UpstreamServer = { readonly name: string; readonly description: string }

const maxDescriptionLength = 120

/** Names the servers behind cowork, one line each. Agents find the tools of a server by name (U4). */
function describeServers(servers: readonly UpstreamServer[]): readonly string[] {
  if (servers.length === 0) return []
  return [
    'Servers behind cowork. Their tools are named server__tool: find them with cowork_find_tools, call them with cowork_use.',
    ...servers.map(({ name, description }) =>
      description === ''
        ? `- ${name}`
        : `- ${name}: ${sanitizeText(description, maxDescriptionLength)}`,
    ),
  ]
}

/**
 * Builds the instructions for connecting models. They are short, because they stay in the model's
 * context.
 */
export const instructionsFor = (
  selection: ToolSelection,
  tools: readonly Tool[],
  servers: readonly UpstreamServer[] = [],
): string =>
  [
    'cowork lets you work with people on this machine: they see, approve and undo what agents do.',
    ...groups.flatMap(({ toolset, text }) =>
      tools.some((tool) => tool.toolset === toolset && isSelected(selection, tool)) ? [text] : [],
    ),
    ...describeServers(servers),
    ...always,
  ].join('\n')
