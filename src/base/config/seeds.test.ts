import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadYaml, tempHome } from '../../../test/base/config/config.fixture.ts'

/** The samples of the source projects, unchanged: people paste them, so they must work as they are. */

const fileOps = `
server:
  host: 0.0.0.0
  port: 8003

workspace:
  path: ~/Downloads/AI-Workspace/
  create_if_missing: true

  structure:
    - Documents/reports/
    - Documents/notes/
    - Documents/drafts/
    - Code/python/
    - Code/bash/
    - Research/
    - Spreadsheets/
    - temp/

grants:
  database: ~/.annabelle/data/grants.db
  default_scope: permanent

security:
  forbidden_paths:
    - ~/.ssh/
    - ~/.gnupg/
    - ~/.aws/
    - ~/.config/
    - ~/.annabelle/data/

  forbidden_extensions_create:
    - .exe
    - .bat
    - .ps1

  max_file_size_mb: 50
  max_binary_read_mb: 10

cleanup:
  temp_retention_days: 7
  run_schedule: "0 2 * * *"

audit:
  enabled: true
  log_path: ~/.annabelle/logs/fileops-audit.log
  max_log_size_mb: 100
`

const restrictions = `
security:
  forbidden_extensions_create:
    - .exe
    - .sh (unless in Code/bash/)
    - .bat
    - .ps1
  max_binary_read_mb: 10
  sensitive_patterns:
    - "**/credentials*"
    - "**/secret*"
    - "**/*.pem"
    - "**/*.key"
cleanup:
  temp_retention_days: 7
  run_schedule: "0 2 * * *"  # 2 AM daily
  notify_before_delete: false
grants:
  - path: ~/Documents/Work/
    permission: read-write
    scope: permanent
  - path: ~/Downloads/
    permission: read
    scope: permanent
`

const protocol = `
policies:
  - id: "crm-write-policy"
    description: "CRM fields"
    rules:
      - field: "deal_stage"
        constraint: "high_risk"
      - field: "amount"
        constraint: "value_range"
        min: 0
        max: 500000
      - field: "commission"
        constraint: "readonly"
        reason: "Finance only"

  - id: "support-write-policy"
    description: "Ticket fields"
    rules:
      - field: "priority"
        constraint: "enum"
        values: ["low", "medium", "high", "critical"]
      - field: "billing_*"
        constraint: "readonly"
        reason: "Finance approves"
      - field: "ticket"
        constraint: "regex"
        pattern: "^T-[0-9]+$"

agents:
  - id: "sales-agent"
    token: "sk-cowork-..."
  - id: "support-agent"
    token: "sk-cowork-..."

mappings:
  - agent_id: "sales-agent"
    domain: "crm.deals"
    policy_id: "crm-write-policy"
  - agent_id: "support-agent"
    domain: "support.tickets"
    policy_id: "support-write-policy"
  - agent_id: "support-agent"
    domain: "crm.deals"
    policy_id: "crm-write-policy"
  - agent_id: "sales-agent"
    domain: "support.tickets"
    policy_id: "support-write-policy"

trust:
  default_level: 0.3
  auto_promote_after: 20
  auto_promote_threshold: 0.8
  auto_demote_after: 3
  decay_per_day: 0.01

authority:
  default_mode: "suggest"
  volume_cap: 50
  high_risk_fields:
    - "deal_stage"
    - "owner"
    - "commission"
    - "utm_*"
    - "billing_*"
    - "password"
    - "permissions"

handoff:
  context_format: "structured"
  include_reasoning: true
  include_confidence: true
  include_attempted: true
  handoff_timeout: 1800

feedback:
  override_requires_reason: true
  reason_types: ["agent_wrong", "human_preference", "missing_context", "policy_change", "edge_case"]

sentry:
  enabled: false
  db_path: "./cowork-traces.db"
  enforcement: "strict"
  sensitive_keys: []
  hash_chain: true
`

test('SV5 the sample of File Ops works unchanged', () => {
  const { home, load } = tempHome({ '.cowork/cowork.yaml': fileOps })
  const { config } = load()
  expect(config.server).toMatchObject({ host: '0.0.0.0', port: 8003 })
  expect(config.workspace.path).toBe(join(home, 'Downloads/AI-Workspace'))
  expect(config.workspace.structure).toHaveLength(8)
  expect(config.grants).toEqual({
    database: join(home, '.annabelle/data/grants.db'),
    default_scope: 'permanent',
    entries: [],
  })
  expect(config.security.forbidden_paths).toContain(join(home, '.ssh'))
  expect(config.cleanup.run_schedule).toBe('0 2 * * *')
  expect(config.audit.log_path).toBe(join(home, '.annabelle/logs/fileops-audit.log'))
})

test('SV5 F5 the restrictions and the grant list of File Ops work unchanged', () => {
  const { config } = loadYaml(restrictions)
  expect(config.security.forbidden_extensions_create).toEqual([
    { extension: '.exe' },
    { extension: '.sh', unless_in: 'Code/bash/' },
    { extension: '.bat' },
    { extension: '.ps1' },
  ])
  expect(config.grants.entries.map(({ permission, scope }) => [permission, scope])).toEqual([
    ['read-write', 'permanent'],
    ['read', 'permanent'],
  ])
})

test('SV5 the policies, agents, mappings, trust and authority of the COWORK protocol work unchanged', () => {
  const { config } = loadYaml(protocol)
  expect(config.agents.map(({ id }) => id)).toEqual(['sales-agent', 'support-agent'])
  expect(config.mappings).toHaveLength(4)
  expect(config.policies[0]?.rules[1]).toEqual({
    field: 'amount',
    constraint: 'value_range',
    min: 0,
    max: 500_000,
    approvers: 1,
  })
  expect(config.authority.volume_cap).toBe(50)
  expect(config.handoff.timeout_seconds).toBe(1800)
})

test('SV5 the aliases of the COWORK protocol work, and the first name wins', () => {
  expect(loadYaml('trust: {auto_promote_accuracy: 0.9}').config.trust.auto_promote_threshold).toBe(
    0.9,
  )
  const both =
    'trust: {auto_promote_accuracy: 0.9, auto_promote_threshold: 0.7, autonomous_threshold: 0.7}\nhandoff: {timeout_seconds: 5, handoff_timeout: 6}\nfeedback: {override_trust_impact: -0.05, approval_trust_impact: 0.03}'
  const { config } = loadYaml(both)
  expect(config.trust.auto_promote_threshold).toBe(0.7)
  expect(config.handoff.timeout_seconds).toBe(5)
  expect(config.feedback.approval_trust_impact).toBe(0.03)
})

test('SV5 all samples together are one valid file', () => {
  const { config } = loadYaml(`${fileOps}\n${protocol}`)
  expect(config.policies).toHaveLength(2)
  expect(config.server.port).toBe(8003)
})
