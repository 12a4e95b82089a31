import * as z from 'zod'
import { risks } from '#approvals/wire.ts'
import { severities } from '#base/override.ts'

const period = z.object({ start: z.string(), end: z.string() })

const share = z.number().nullable()

const interval = z.object({ low: z.number(), high: z.number() }).nullable()

const finding = z.object({
  kind: z.string(),
  severity: z.enum(severities),
  title: z.string(),
  count: z.number(),
  agent_id: z.string().optional(),
  domain: z.string().optional(),
  person_id: z.string().optional(),
  entries: z.array(z.number()).describe('Numbers of the ledger entries that show it'),
  recommendation: z.string(),
})
export type Finding = z.output<typeof finding>

const intervention = z.object({
  agent_id: z.string(),
  domain: z.string(),
  approvals: z.number(),
  overrides: z.number(),
  handoffs: z.number(),
  expired: z.number(),
})
export type Intervention = z.output<typeof intervention>

export const reportResults = {
  cowork_governance_report: z.object({
    findings: z.array(finding),
    interventions: z.array(intervention),
    standings: z
      .array(
        z.object({
          agent_id: z.string(),
          domain: z.string(),
          classes: z.array(
            z.object({
              risk: z.enum(risks),
              level: z.enum(['autonomous', 'supervised', 'probation']),
              reason: z.string().describe('Why it stands there'),
              next: z.string().optional().describe('What is missing'),
            }),
          ),
        }),
      )
      .optional()
      .describe('How agents stand now, by class of risk; for people'),
    period,
  }),
  cowork_quality_metrics: z.object({
    n_reviewed: z.number().describe('Proposals and calls that people decided'),
    approval_rate: share,
    approval_interval: interval.describe('Where the true rate lies with 95 % certainty (Wilson)'),
    accuracy: share.describe('Without overrides that are not the agent’s fault'),
    override_rate: share,
    overrides: z.array(
      z.object({
        override_type: z.string(),
        severity: z.string(),
        count: z.number(),
        rate: z.number(),
      }),
    ),
    weighted_override: share.describe('By how bad they were; being plainly wrong counts 1'),
    autonomous: z.number().describe('Actions that trust decided'),
    escape_rate: share.describe('Of those, found wrong afterwards'),
    slips_per_100: z
      .number()
      .nullable()
      .describe('Mistakes found in what was done alone, for 100 actions done alone'),
    checks_drawn: z
      .number()
      .nullable()
      .describe('Checks by chance that people answered; for people'),
    alone_error_rate: share.describe(
      'Estimate: wrong of all checks by chance. Look-backs and unread checks are left out; for people',
    ),
    alone_error_interval: interval.describe(
      'Where the true error rate lies with 95 % certainty (Wilson); for people',
    ),
    checks_within_day: share.describe('Checks that were read within a day; for people'),
    automation_rate: share,
    review_load: z.number().nullable().describe('Reviews for 100 actions'),
    retry_rate: share.describe('Overridden, and proposed again within a day'),
    rollback_rate: share.describe('Approved, and overridden afterwards'),
    latency_p50: z.number().nullable().describe('Seconds until a person decided'),
    latency_p95: z.number().nullable(),
    handoff_latency_p50: z.number().nullable(),
    handoff_latency_p95: z.number().nullable(),
    confidence_avg: share,
    brier: share,
    ece: share.describe('Expected calibration error of confidence, ten bins'),
    rubber_stamp_share: share.describe('Approvals within three seconds'),
    collaboration_score: z
      .number()
      .nullable()
      .describe('0 to 100; null while fewer than 20 were reviewed'),
    period,
  }),
}
