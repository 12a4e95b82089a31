import { columns, partialIndex } from '#base/db/columns.ts'
import { keyType } from '#base/db/dialect.ts'
import type { Migration } from '#base/db/migrate.ts'

export const governanceMigrations: readonly Migration[] = [
  {
    name: 'governance-001',
    up: (schema) => [
      schema
        .createTable('trust')
        .$call(columns('agent text!, domain text!, score double precision!, approvals bigint!'))
        .$call(columns('overrides bigint!, streak bigint!, promoted bigint!, vouched bigint!'))
        .$call(columns('active_at bigint!, low_good double precision!'))
        .$call(columns('low_bad double precision!, normal_good double precision!'))
        .$call(columns('normal_bad double precision!, high_good double precision!'))
        .$call(columns('high_bad double precision!'))
        .addPrimaryKeyConstraint('trust_key', ['agent', 'domain']),
      schema
        .createTable('trust_point')
        .$call(columns('id text key, agent text!, domain text!, at bigint!'))
        .$call(columns('score double precision!, cause text!')),
      schema.createIndex('trust_point_pair').on('trust_point').columns(['agent', 'domain', 'at']),
      schema
        .createTable('override')
        .$call(columns('id text key, agent text!, domain text!, approval text, action text!'))
        .$call(columns('type text!, severity text!, description text!, change double precision!'))
        .$call(columns('by text!, at bigint!')),
      schema.createIndex('override_pair').on('override').columns(['agent', 'domain', 'at']),
      schema
        .createTable('permission')
        .$call(columns('id text key, agent text!, tool text!, arguments text, lasts text!'))
        .$call(columns('uses_left bigint, session text, expires_at bigint, approval text!'))
        .$call(columns('by text!, at bigint!, last_used_at bigint, revoked_at bigint')),
      schema.createIndex('permission_agent').on('permission').columns(['agent', 'tool']),
      schema
        .createTable('mapping')
        .$call(columns('agent text!, domain text!, policy text!, approval text!, by text!'))
        .$call(columns('at bigint!'))
        .addPrimaryKeyConstraint('mapping_key', ['agent', 'domain']),
      // The tables of the COWORK protocol as views, for people with `sqlite3` or `psql` (SV9).
      view(
        'proposals',
        `SELECT id, requester AS agent_id, domain, action, target, status, mode, risk, trust_level, confidence, digest, created_at, decided_at, decided_by, CASE WHEN channel = 'trust' THEN 1 ELSE 0 END AS auto FROM approval WHERE kind = 'proposal'`,
      ),
      view(
        'trust_scores',
        'SELECT agent AS agent_id, domain, score AS trust_level, approvals, overrides, streak AS consecutive_overrides, active_at FROM trust',
      ),
      view(
        'overrides',
        'SELECT id, agent AS agent_id, domain, approval AS proposal_id, action, type AS override_type, severity, description, change AS trust_change, by AS decided_by, at FROM "override"',
      ),
    ],
  },
  {
    name: 'governance-002',
    up: (schema) => [
      schema
        .createTable('handoff')
        .$call(columns('id text key, thread text!, agent text!, domain text!, remind_at bigint'))
        .$call(columns('reminded bigint!, back_at bigint')),
      schema.createIndex('handoff_thread').on('handoff').column('thread'),
      partialIndex(schema, 'handoff_remind', 'handoff(remind_at)', 'remind_at IS NOT NULL'),
      partialIndex(schema, 'handoff_back', 'handoff(agent, back_at)', 'back_at IS NOT NULL'),
      view(
        'handoffs',
        `SELECT approval.id, requester AS agent_id, approval.domain, action AS handoff_mode, summary AS reason, confidence, status, thread, created_at, decided_at AS resolved_at, decided_by AS resolved_by, back_at AS handed_back_at, reminded FROM approval JOIN handoff ON handoff.id = approval.id`,
      ),
    ],
  },
  {
    name: 'governance-003',
    up: (schema, dialect) => [
      schema
        .createTable('policy_version')
        .addColumn('number', keyType(dialect), (c) => c.primaryKey())
        .$call(columns('version text!, source text!, by text!, note text!, at bigint!'))
        .$call(columns('body text!, file text!')),
      schema.createIndex('policy_version_version').on('policy_version').column('version'),
    ],
  },
  {
    name: 'governance-004',
    up: (schema) => [
      schema.alterTable('permission').addColumn('risk', 'text'),
      update(
        'permission SET risk = (SELECT approval.risk FROM approval WHERE approval.id = permission.approval)',
      ),
      schema.alterTable('trust').addColumn('claimed', 'bigint'),
      // Approvals by unverified callers counted as evidence so far and cannot be separated from the rest.
      update(
        `trust SET claimed = 1, vouched = 0, low_good = 0, normal_good = 0, high_good = 0 WHERE EXISTS (SELECT 1 FROM approval WHERE approval.requester = trust.agent AND approval.domain = trust.domain AND approval.kind = 'proposal' AND approval.status = 'approved' AND approval.decided_by = 'unverified')`,
      ),
    ],
  },
  {
    name: 'governance-005',
    up: (schema) => [
      ...['seen_at', ...standingColumns].map((column) =>
        schema.alterTable('trust').addColumn(column, 'bigint'),
      ),
      schema.alterTable('trust').addColumn('client', 'text'),
      schema.alterTable('trust_point').addColumn('mark', 'text'),
      schema.alterTable('trust_point').addColumn('risk', 'text'),
      schema
        .createTable('trust_kind')
        .$call(columns('agent text!, domain text!, risk text!, kind text!, credit bigint!'))
        .addPrimaryKeyConstraint('trust_kind_key', ['agent', 'domain', 'risk', 'kind']),
      schema
        .createTable('spot_check')
        .$call(columns('act text key, approval text!, agent text!, domain text!, risk text!'))
        .$call(columns('look_back text, opened_at bigint!, read_at bigint')),
      schema.createIndex('spot_check_approval').on('spot_check').column('approval'),
      partialIndex(
        schema,
        'spot_check_unread',
        'spot_check(agent, domain, risk)',
        'read_at IS NULL',
      ),
      // Pending checks from earlier versions no longer expire. Only their content says what they check.
      {
        sql: `INSERT INTO spot_check (act, approval, agent, domain, risk, opened_at) SELECT id, id, requester, domain, risk, created_at FROM approval WHERE kind = 'spot_check' AND status = 'pending'`,
        parameters: [],
      },
      update(`approval SET expires_at = NULL WHERE kind = 'spot_check' AND status = 'pending'`),
    ],
  },
]

const standingColumns = ['low', 'normal', 'high'].flatMap((risk) =>
  ['credit', 'strikes', 'clean'].map((what) => `${risk}_${what}`),
)

const update = (what: string) => ({ sql: `UPDATE ${what}`, parameters: [] })

/** A view over a CTE is read-only in PostgreSQL. */
const view = (name: string, select: string) => ({
  sql: `CREATE VIEW ${name} AS WITH shown AS (${select}) SELECT * FROM shown`,
  parameters: [],
})
