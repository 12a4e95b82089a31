// One call of every tool that an agent can make over MCP, in an order in which each finds what it needs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestApp } from './app.ts'
import { createClient } from './speakers.ts'
import type { Said } from './speakers.ts'

/** The state that a step passes to the next one. */
export type Scene = {
  readonly app: TestApp
  /** A folder outside of the workspace. */
  readonly outside: string
  readonly ids: Record<string, string>
  /** A call of the same agent that is not an example. */
  call(tool: string, args: Said): Promise<Said>
}

export type Example = {
  /** The name of its file; the tool's own name unless it is about something else. */
  readonly name: string
  readonly tool: string
  readonly arguments: (scene: Scene) => Said
  /**
   * The facts that a model must learn. A path such as `story.id` names a field of structuredContent, which must exist
   * and whose value the text must contain. Anything in quotes is text that each half must contain.
   */
  readonly facts: readonly string[]
  /** Prepares the step other than by tool calls. */
  readonly before?: (scene: Scene) => Promise<unknown>
  /** Fields of the answer that later steps need, by the name under which they find them. */
  readonly keep?: Readonly<Record<string, string>>
}

const owner = ({ app }: Scene) => createClient(app, app.owner)
const project = 'web'
const proposal = {
  domain: 'crm.deals',
  action: 'update_deal',
  target: 'deal-1',
  proposed_change: { amount: 500 },
  confidence: 0.9,
  reasoning: 'The budget is approved.',
}

const example = (
  tool: string,
  args: Said | ((scene: Scene) => Said),
  facts: readonly string[],
  more: Partial<Example> = {},
): Example => ({
  name: tool,
  tool,
  arguments: typeof args === 'function' ? args : () => args,
  facts,
  ...more,
})

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const fileExamples: readonly Example[] = [
  example('create_file', { path: 'notes.txt', content: 'one\ntwo\n' }, ['full_path', 'size_bytes']),
  example('read_file', { path: 'notes.txt' }, ['"one\\ntwo\\n"', '"sha256 c3f9c8c283a2"']),
  example(
    'read_file',
    { path: 'long.txt', line_from: 1, line_to: 2, max_bytes: 8 },
    ['"line 1"', '"read_file {\\"path\\":\\""', '"\\"line_from\\":2}"'],
    {
      name: 'part-of-a-file',
      before: async ({ app }) =>
        writeFileSync(join(app.workspace, 'long.txt'), 'line 1\nline 2\nline 3\n'),
    },
  ),
  example('read_file', { path: 'dot.png' }, ['"dot.png"', '"image/png"', '"70 bytes"'], {
    name: 'image',
    before: async ({ app }) =>
      writeFileSync(join(app.workspace, 'dot.png'), Buffer.from(dot, 'base64')),
  }),
  example('read_files', { paths: ['notes.txt', 'none.txt'] }, [
    '"one\\ntwo\\n"',
    '"none.txt"',
    '"Failed"',
  ]),
  example('update_file', { path: 'notes.txt', edits: [{ old: 'two', new: 'three' }] }, [
    '"Changed"',
    '"notes.txt.bak"',
    '"+three"',
  ]),
  example(
    'file_versions',
    { path: 'notes.txt' },
    ['path', 'versions.0.version_id', 'versions.0.size_bytes'],
    {
      keep: { version: 'versions.0.version_id' },
    },
  ),
  example('file_diff', { path: 'notes.txt' }, ['"-two"', '"+three"']),
  example(
    'file_restore_version',
    ({ ids }) => ({ path: 'notes.txt', version_id: ids['version'] }),
    ['path', 'size_bytes'],
  ),
  example('copy_file', { source: 'notes.txt', destination: 'copy.txt' }, ['destination_path']),
  example('move_file', { source: 'copy.txt', destination: 'old/notes.txt' }, ['new_path']),
  example('list_files', {}, ['"notes.txt\\t8"', '"old/"']),
  example('list_files', { limit: 1 }, ['"\\"cursor\\": \\""'], { name: 'part-of-a-list' }),
  example('file_tree', {}, ['"old/"', '"  notes.txt"']),
  example('search_files', { query: 'two', search_type: 'content' }, [
    '"3 found"',
    '"notes.txt:2: two"',
  ]),
  example('delete_file', { path: 'old/notes.txt' }, ['deleted_path', 'trash_id'], {
    keep: { trash: 'trash_id' },
  }),
  example('trash_list', {}, ['items.0.trash_id', 'items.0.path', 'items.0.expires_at']),
  example('trash_restore', ({ ids }) => ({ trash_id: ids['trash'] }), ['restored_path']),
  example('get_workspace_info', {}, ['workspace_path', 'total_files', 'containment']),
  example('check_grant', ({ outside }) => ({ path: outside }), ['has_access']),
  example(
    'read_file',
    ({ outside }) => ({ path: join(outside, 'a.txt') }),
    ['"No access. Call request_grant() first."', '"request_grant {"', '"a.txt"'],
    { name: 'refusal' },
  ),
  example(
    'request_grant',
    ({ outside }) => ({ path: outside, permission: 'read', reason: 'To sum up the reports' }),
    ['status', 'request_id', 'review_url', 'message', '"cowork_check_approval {"'],
    { keep: { request: 'request_id' } },
  ),
  example('list_grants', {}, ['"read "', '"outside"', '"grant_"'], {
    before: async (scene) =>
      owner(scene).call('cowork_decide', {
        approval_ids: [scene.ids['request']],
        decision: 'approve',
        grant: { choice: 'folder' },
      }),
  }),
  example('create_file', { path: 'keys/server.pem', content: 'x' }, ['approval_id', 'review_url'], {
    name: 'pending-call',
  }),
  example('create_file', { path: 'a.txt', text: 'x' }, ['"content"', '"create_file {"'], {
    name: 'wrong-arguments',
  }),
  example('get_audit_log', { operation_filter: 'update_file', limit: 1 }, [
    'entries.0.operation',
    'entries.0.path',
    'entries.0.success',
  ]),
]

const workExamples: readonly Example[] = [
  example('worksync_register_project', { project, description: 'The web site' }, [
    'project',
    'folder',
  ]),
  example('worksync_projects', {}, ['projects.0.project', 'projects.0.stories']),
  example('worksync_guidance', { project, topic: 'general' }, ['guidance.0.name', 'topics.0']),
  example(
    'worksync_create_sprint',
    { project, sprint_id: 'sprint-1', title: 'Sprint 1', status: 'active' },
    ['sprint.id', 'sprint.status', 'sprint.rev'],
  ),
  example('worksync_update_sprint', { project, sprint_id: 'sprint-1', goal: 'A login page' }, [
    'sprint.goal',
    'sprint.rev',
  ]),
  example('worksync_add_story', { project, sprint_id: 'sprint-1', title: 'Add a login page' }, [
    'story.id',
    'story.title',
    'story.rev',
    'story.sprint_id',
  ]),
  example('worksync_status', { project }, ['projects.0.project', 'projects.0.active_sprints.0.id']),
  example('worksync_ready', { project }, ['stories.0.id', 'stories.0.title', 'total']),
  example('worksync_get', { project, story_id: 'STORY-1' }, [
    'story.id',
    'story.title',
    'story.rev',
  ]),
  example('worksync_claim', { project, story_id: 'STORY-1' }, [
    'story.id',
    'lease.fence',
    'lease.until',
  ]),
  example('worksync_update_story', { project, story_id: 'STORY-1', append_notes: 'Half done' }, [
    'story.id',
    'story.notes',
    'story.rev',
  ]),
  example('worksync_comment', { project, story_id: 'STORY-1', text: 'Which provider?' }, [
    'id',
    'comments',
  ]),
  example('worksync_release', { project, story_id: 'STORY-1' }, ['story.id', 'story.status']),
  example('worksync_done', { project, story_id: 'STORY-1' }, ['story.status', 'history.summary']),
  example('worksync_add_backlog', { project, id: 'dark-mode', summary: 'Dark mode' }, [
    'item.id',
    'item.rev',
  ]),
  example('worksync_update_backlog', { project, item_id: 'dark-mode', priority: 'high' }, [
    'item.priority',
    'item.rev',
  ]),
  example('worksync_search', { project, query: 'dark' }, ['results.0.id', 'total']),
  example('worksync_search', { project, limit: 5000 }, ['total', 'notes.0'], {
    name: 'clamped-argument',
  }),
  example('worksync_move', { project, item_id: 'dark-mode', sprint_id: 'sprint-1' }, [
    'story.id',
    'story.sprint_id',
  ]),
  example('worksync_remove_backlog', { project, item_id: 'later' }, ['removed.id'], {
    before: async (scene) =>
      owner(scene).call('worksync_add_backlog', { project, item_id: 'later', summary: 'Later' }),
  }),
  example('worksync_history', { project, summary: 'Shipped 1.0' }, [
    'appended.summary',
    'history.0.summary',
    'total',
  ]),
  example('worksync_resolve', { project, conflict_id: 'none', take: 'ours' }, ['message']),
  example('worksync_sync', { project }, ['vault_path', 'written']),
  example('worksync_unregister_project', { project: 'empty' }, ['approval_id', 'review_url'], {
    before: async (scene) => owner(scene).call('worksync_register_project', { project: 'empty' }),
  }),
]

const governanceExamples: readonly Example[] = [
  example('cowork_validate_policy', { domain: 'crm.deals', proposed_change: { amount: 5 } }, [
    'valid',
    'message',
  ]),
  example('cowork_propose', proposal, ['proposal_id', 'review_url', 'message'], {
    keep: { proposal: 'proposal_id' },
  }),
  example('cowork_check_approval', ({ ids }) => ({ proposal_id: ids['proposal'] }), ['message']),
  example('cowork_check_approval', ({ ids }) => ({ proposal_id: ids['proposal'] }), ['message'], {
    name: 'edited-approval',
    before: async (scene) =>
      owner(scene).call('cowork_decide', {
        approval_ids: [scene.ids['proposal']],
        decision: 'approve',
        change: { amount: 50 },
      }),
  }),
  example(
    'cowork_log',
    ({ ids }) => ({
      domain: 'crm.deals',
      action: 'update_deal',
      target: 'deal-1',
      proposal_id: ids['proposal'],
    }),
    ['action_id', 'proposal_id', 'phase'],
  ),
  example('cowork_audit_trail', ({ ids }) => ({ proposal_id: ids['proposal'] }), [
    'proposal_id',
    'chain.0.step',
    'in_order',
    'message',
  ]),
  example(
    'cowork_handoff',
    {
      domain: 'crm.deals',
      reason: 'The discount is above my limit',
      confidence: 0.4,
      context: { deal: 'deal-1' },
    },
    ['handoff_id', 'status', 'review_url', 'message'],
    { keep: { handoff: 'handoff_id' } },
  ),
  example('cowork_find_tools', { query: 'restore from trash' }, [
    'tools.0.name',
    'tools.0.description',
    'others.0',
    'message',
  ]),
  example('cowork_use', { tool: 'list_grants', arguments: {} }, ['"read"']),
  example('cowork_status', {}, [
    'caller.id',
    'pending',
    'pending_handoffs.0.handoff_id',
    'trust.0.mode',
  ]),
  example(
    'cowork_check_handoff',
    {},
    [
      'count',
      'pending_handoffs.0.handoff_id',
      'pending_handoffs.0.instructions',
      'pending_handoffs.0.resolution',
    ],
    {
      before: async (scene) =>
        owner(scene).call('cowork_resolve_handoff', {
          handoff_id: scene.ids['handoff'],
          resolution: 'Discussed with the customer',
          instructions: 'Offer 10 percent',
        }),
    },
  ),
  example('cowork_check_trust', { domain: 'crm.deals' }, ['trust_level', 'mode', 'to_go']),
  example('cowork_trust_history', { domain: 'crm.deals', days: 1 }, ['now.mode', 'points.0.score']),
  example('cowork_governance_report', {}, ['period.start', 'interventions.0.domain']),
  example('cowork_quality_metrics', {}, ['period.end']),
  example(
    'cowork_withdraw',
    ({ ids }) => ({ approval_id: ids['second'] }),
    ['approval_id', 'status'],
    {
      before: async (scene) => propose(scene, 'second'),
    },
  ),
  example(
    'cowork_approve',
    ({ ids }) => ({ proposal_id: ids['third'] }),
    ['proposal_id', 'status', 'message'],
    {
      before: async (scene) => propose(scene, 'third'),
    },
  ),
  example('cowork_bulk_approve', ({ ids }) => ({ proposal_ids: [ids['fourth']] }), ['message'], {
    before: async (scene) => propose(scene, 'fourth'),
  }),
  example(
    'cowork_bulk_reject',
    ({ ids }) => ({
      proposal_ids: [ids['fifth']],
      override_type: 'edge_case',
      description: 'Not now',
    }),
    ['message'],
    { before: async (scene) => propose(scene, 'fifth') },
  ),
  example(
    'cowork_override',
    {
      agent_id: 'main',
      domain: 'crm.deals',
      action_description: 'Closed the deal',
      override_type: 'edge_case',
      description: 'It was premature',
    },
    ['override_id', 'trust_level', 'message'],
  ),
  example(
    'cowork_resolve_handoff',
    ({ ids }) => ({ handoff_id: ids['other'], resolution: 'Done' }),
    ['handoff_id', 'status', 'message'],
    {
      before: async ({ call, ids }) => {
        const given = { domain: 'crm.deals', reason: 'Another one', confidence: 0.4 }
        ids['other'] = String((await call('cowork_handoff', given))['handoff_id'])
      },
    },
  ),
  example('cowork_halt', {}, ['"HumanRequiredError: Only a person can do this."', 'review_url'], {
    name: 'people-only',
  }),
]

export const examples: readonly Example[] = [
  ...fileExamples,
  ...workExamples,
  ...governanceExamples,
]

async function propose({ call, ids }: Scene, name: string): Promise<void> {
  const given = { ...proposal, target: `deal-${name}` }
  ids[name] = String((await call('cowork_propose', given))['proposal_id'])
}
