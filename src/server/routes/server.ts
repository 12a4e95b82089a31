import { CoworkError } from '#base/errors.ts'
import { matchesGlob } from '#base/glob.ts'
import type { Metrics } from '../metrics.ts'
import { serverAnswers } from '../wire.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = {
  readonly getUnreadyReason: () => string | undefined
  readonly metrics: Metrics
}

/** Serves the health checks and metrics for operators (SV24). */
export const serverRoutes = ({ getUnreadyReason, metrics }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/healthz',
    summary: 'Liveness check',
    by: 'all',
    answer: serverAnswers['GET /healthz'],
    run: async () => ({ ok: true }),
  }),
  defineRoute({
    method: 'GET',
    path: '/readyz',
    summary: 'Readiness check; 503 contains the reason',
    by: 'all',
    answer: serverAnswers['GET /readyz'],
    async run(_, c) {
      const why = getUnreadyReason()
      return why === undefined ? { ok: true } : c.json({ ok: false, why }, 503)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    by: 'anyone',
    answer: { media: 'text/plain', description: 'Prometheus text format 0.0.4' },
    async run(_, c) {
      const { kind, id, scopes } = c.get('caller')
      if (kind === 'agent' && !scopes.some((scope) => matchesGlob(scope, 'read:metrics')))
        throw new CoworkError(
          'scope_missing',
          `${id} cannot read metrics: scope read:metrics is required.`,
          {
            hint: 'Ask a person to add the scope read:metrics.',
          },
        )
      return c.text(await metrics.formatText(), 200, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
      })
    },
  }),
]
