import * as z from 'zod'
import { risks } from '#approvals/wire.ts'
import { severities } from '#base/override.ts'

const period = z.object({ start: z.string(), end: z.string() })

const ratio = z.number().nullable()

const interval = z.object({ low: z.number(), high: z.number() }).nullable()

const finding = z.object({
  kind: z.string(),
  severity: z.enum(severities),
  title: z.string(),
  count: z.number(),
  agent_id: z.string().optional(),
  domain: z.string().optional(),
  person_id: z.string().optional(),
  entries: z.array(z.number()).describe('Sequence numbers of the ledger entries'),
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
              reason: z.string().describe('Reason for the level'),
              next: z.string().optional().describe('Missing for the next level'),
            }),
          ),
        }),
      )
      .optional()
      .describe('Current standing of agents by risk class; for people'),
    period,
  }),
  cowork_quality_metrics: z.object({
    n_reviewed: z.number().describe('Proposals and calls that people decided'),
    approval_rate: ratio,
    approval_interval: interval.describe('95% confidence interval (Wilson)'),
    accuracy: ratio.describe('Excludes overrides that are not the agent’s fault'),
    override_rate: ratio,
    overrides: z.array(
      z.object({
        override_type: z.string(),
        severity: z.string(),
        count: z.number(),
        rate: z.number(),
      }),
    ),
    weighted_override: ratio.describe('Weighted by type and severity; plainly wrong counts 1'),
    autonomous: z.number().describe('Actions decided by trust'),
    escape_rate: ratio.describe('Share of autonomous actions marked as wrong'),
    slips_per_100: z.number().nullable().describe('Mistakes found per 100 autonomous actions'),
    checks_drawn: z.number().nullable().describe('Random checks answered by people; for people'),
    alone_error_rate: ratio.describe(
      'Estimate: share of random checks marked as wrong, without look-backs and unread checks; for people',
    ),
    alone_error_interval: interval.describe(
      '95% confidence interval of the error rate (Wilson); for people',
    ),
    checks_within_day: ratio.describe('Checks read within a day; for people'),
    automation_rate: ratio,
    review_load: z.number().nullable().describe('Reviews per 100 actions'),
    retry_rate: ratio.describe('Overridden and proposed again within a day'),
    rollback_rate: ratio.describe('Approved and overridden afterwards'),
    latency_p50: z.number().nullable().describe('Seconds until a person decided'),
    latency_p95: z.number().nullable(),
    handoff_latency_p50: z.number().nullable(),
    handoff_latency_p95: z.number().nullable(),
    confidence_avg: ratio,
    brier: ratio,
    ece: ratio.describe('Expected calibration error of confidence, ten bins'),
    rubber_stamp_share: ratio.describe('Approvals within three seconds'),
    collaboration_score: z
      .number()
      .nullable()
      .describe('0 to 100; null with fewer than 20 reviews'),
    period,
  }),
}
