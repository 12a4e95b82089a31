// Every sample call of the source projects, with its arguments.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createClient } from './speakers.ts'

type Sample = readonly [tool: string, args: object]

/** Samples of the COWORK protocol, with `uuid` for an id from a result. */
const coworkSamples: readonly Sample[] = [
  [
    'cowork_propose',
    {
      agent_id: 'sales-agent',
      agent_token: 'sk-cowork-...',
      domain: 'crm.deals',
      action: 'update_deal',
      target: 'deal_12345',
      proposed_change: JSON.stringify({ deal_stage: 'closed_won' }),
      confidence: 0.92,
      reasoning: 'All criteria met: budget approved, stakeholder consensus',
      field: 'deal_stage',
    },
  ],
  [
    'cowork_handoff',
    {
      agent_id: 'sales-agent',
      agent_token: 'sk-cowork-...',
      domain: 'crm.deals',
      reason: 'Trust too low to proceed',
      confidence: 0.85,
      attempted_actions: JSON.stringify(['cowork_propose returned escalate']),
      context: JSON.stringify({ proposal_id: 'uuid' }),
      handoff_mode: 'escalate',
    },
  ],
  [
    'cowork_approve',
    {
      proposal_id: 'uuid',
      agent_id: 'sales-agent',
      domain: 'crm.deals',
      feedback: 'Looks good — legal confirmed',
    },
  ],
  [
    'cowork_override',
    {
      agent_id: 'sales-agent',
      domain: 'crm.deals',
      action_description: 'Deal closure was premature',
      override_type: 'agent_wrong',
      severity: 'high',
      description: 'Contract still being negotiated',
    },
  ],
  [
    'cowork_handoff',
    {
      agent_id: 'sales-agent',
      domain: 'crm.deals',
      reason: 'Trust too low to modify deal_stage',
      confidence: 0.85,
      attempted_actions: JSON.stringify(['check budget', 'verify stakeholders']),
      context: JSON.stringify({ deal_id: '12345', issue: '...' }),
    },
  ],
  ['cowork_check_handoff', { agent_id: 'sales-agent', domain: 'crm.deals' }],
  ['cowork_status', { agent_id: 'sales-agent' }],
  [
    'cowork_resolve_handoff',
    {
      handoff_id: 'uuid',
      resolution: 'approved',
      hand_back: true,
      instructions: 'Proceed only if both stakeholders have written confirmation in the deal notes',
    },
  ],
]

/** Samples of File Ops; some contain comments. */
const fileSamples: readonly Sample[] = [
  ['check_grant', { path: '/home/tomasz/Documents/Work/report.pdf' }],
  [
    'request_grant',
    {
      path: '/home/tomasz/Documents/Work/',
      permission: 'read-write',
      reason: 'To help organize your project files',
    },
  ],
  ['list_grants', {}],
  ['revoke_grant', { grant_id: 'grant_abc123' }],
  [
    'create_file',
    {
      path: 'Documents/reports/quarterly-analysis.md',
      content: '# Quarterly Analysis\n\n...',
      overwrite: false,
    },
  ],
  ['read_file', { path: 'Documents/reports/quarterly-analysis.md' }],
  ['read_file', { path: '/home/tomasz/Documents/Work/report.pdf' }],
  ['list_files', { path: 'Documents/reports/', recursive: false }],
  [
    'update_file',
    {
      path: 'Documents/reports/quarterly-analysis.md',
      content: '# Updated Quarterly Analysis\n\n...',
      create_backup: true,
    },
  ],
  ['delete_file', { path: 'temp/old-draft.md' }],
  ['move_file', { source: 'temp/draft.md', destination: 'Documents/notes/meeting-notes.md' }],
  [
    'copy_file',
    {
      source: '/home/tomasz/Documents/template.docx',
      destination: 'Documents/drafts/my-doc.docx',
    },
  ],
  [
    'search_files',
    {
      query: 'quarterly',
      search_in: 'workspace',
      search_type: 'filename',
      file_types: ['.md', '.txt'],
    },
  ],
  ['get_workspace_info', {}],
  [
    'get_audit_log',
    {
      path_filter: '/home/tomasz/Documents/Work/',
      operation_filter: 'read',
      date_from: '2026-02-01',
      limit: 100,
    },
  ],
]

/** Samples of WorkSync: it documents only tool names, so the arguments come from its server and tests. */
const workSamples: readonly Sample[] = [
  ['worksync_status', { project: 'web' }],
  ['worksync_projects', { project: 'web' }],
  [
    'worksync_add_backlog',
    {
      project: 'web',
      id: 'cicd-sha-pinning',
      summary: 'Pin actions by hash',
      theme: 'security',
      status: 'todo',
      related_sprints: [],
      agent: 'claude-code',
    },
  ],
  [
    'worksync_update_backlog',
    { project: 'web', id: 'cicd-sha-pinning', status: 'in_progress', agent: 'codex' },
  ],
  [
    'worksync_create_sprint',
    { project: 'web', id: 's1', title: 'One', goal: 'Ship', themes: ['x'], status: 'active' },
  ],
  ['worksync_update_sprint', { project: 'web', id: 's1', goal: 'Ship it', agent: 'codex' }],
  [
    'worksync_add_story',
    { project: 'web', sprint_id: 's1', story_id: 'STORY-1', status: 'planned', notes: 'x' },
  ],
  [
    'worksync_update_story',
    { project: 'web', sprint_id: 's1', story_id: 'STORY-1', status: 'in_progress' },
  ],
  ['worksync_done', { project: 'web', story_id: 'STORY-1', notes: 'Done', sprint_id: 's1' }],
  ['worksync_history', { project: 'web', action: 'list' }],
  [
    'worksync_history',
    { project: 'web', action: 'add', summary: 'Shipped', related_sprints: ['s1'] },
  ],
  ['worksync_remove_backlog', { project: 'web', id: 'cicd-sha-pinning', agent: 'codex' }],
  ['worksync_sync', { project: 'web' }],
  ['worksync_guidance', { project: 'web', topic: 'general' }],
]

describe('SV27 the sample calls of the source projects', () => {
  let app: TestApp
  let client: Client

  beforeAll(async () => {
    app = await startTestApp()
    client = new Client({ name: 'seed', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl)))
    await createClient(app, app.owner).call('worksync_register_project', { project: 'web' })
  })
  afterAll(async () => {
    await client.close()
    await app.close()
  })

  const codeOf = async ([name, args]: Sample) => {
    const { structuredContent } = await client.callTool({ name, arguments: { ...args } })
    return (structuredContent as { code?: string } | undefined)?.code
  }

  test.each([...coworkSamples, ...fileSamples])('%s %j', async (...sample) => {
    expect(await codeOf(sample)).not.toBe('invalid_input')
  })

  test.each(workSamples)('%s %j succeeds', async (...sample) => {
    expect(await codeOf(sample)).toBeUndefined()
  })

  test('W15 a story is not found in another sprint', async () => {
    const args = { project: 'web', story_id: 'STORY-1', sprint_id: 'other', notes: 'x' }
    expect(await codeOf(['worksync_update_story', args])).toBe('not_found')
  })
})

test('RW3 unknown arguments are refused and nothing is stored', async () => {
  const app = await startTestApp()
  const person = createClient(app, app.owner)
  await person.call('worksync_register_project', { project: 'web' })
  await person.call('worksync_create_sprint', { project: 'web', sprint_id: 's1', title: 'One' })
  const story = { project: 'web', sprint_id: 's1', title: 'A story' }
  const given = { ...story, description: 'Lost before', labels: ['ui'] }
  const refused = await person.call('worksync_add_story', given)
  expect(refused).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('has no description: notes?'),
    hint: expect.stringContaining('worksync_add_story {"project":"web","sprint_id":"s1"'),
  })
  expect(refused['message']).toContain('has no labels')
  expect(await person.call('worksync_search', { project: 'web', kind: 'story' })).toMatchObject({
    total: 0,
  })
  await app.close()
})
