import type { Locator, Page } from 'playwright-core'
import * as z from 'zod'
import { defineTool } from '../../src/base/tool.ts'
import { expect } from 'vitest'
import type { TestApp } from '../app.ts'
import { output } from './browser.ts'

/** Creates an agent with a token that proposes through the API. */
export async function asking(app: TestApp, id = 'sales-agent', domain = 'crm.deals') {
  const { token } = await output<{ token: string }>(app, 'cowork_add_agent', { id })
  const call = async <T>(tool: string, args: Record<string, unknown>) => {
    const reply = await app.call(tool, args, token)
    return (await reply.json()) as { output: T; error?: Record<string, unknown> }
  }
  return {
    call,
    async propose(target: string, change: Record<string, unknown>, more: object = {}) {
      const { output: made } = await call<{ proposal_id: string; mode: string }>('cowork_propose', {
        domain,
        action: 'update',
        target,
        proposed_change: change,
        confidence: 0.92,
        reasoning: 'All criteria met.',
        ...more,
      })
      expect(made.proposal_id).toBeTypeOf('string')
      return made.proposal_id
    },
    trust: (score: number, where = domain) =>
      output(app, 'cowork_set_trust', { agent_id: id, domain: where, score, reason: 'the test' }),
  }
}

export type Found = {
  readonly status: string
  readonly decided_by?: string
  readonly reason?: string
  readonly approved_change?: unknown
  readonly change: unknown
  readonly effect: { readonly approve: { from: number; to: number } | null }
}

export async function getApproval(app: TestApp, id: string): Promise<Found> {
  const reply = await fetch(`${app.url}/api/approvals/${id}`, {
    headers: { authorization: `Bearer ${app.owner}` },
  })
  return (await reply.json()) as Found
}

export const getStatus = async (app: TestApp, id: string): Promise<string> =>
  (await getApproval(app, id)).status

export const getTrust = async (app: TestApp, id = 'sales-agent', domain = 'crm.deals') =>
  (await output<{ trust_level: number }>(app, 'cowork_check_trust', { agent_id: id, domain }))
    .trust_level

export const findPendingList = (page: Page): Locator =>
  page.getByRole('list', { name: 'Pending, newest first' })

/** Returns the inbox row with this text. */
export const findInboxRow = (page: Page, text: string | RegExp): Locator =>
  findPendingList(page).getByRole('link').filter({ hasText: text })

/** Returns the open item after it has loaded. */
export async function opened(page: Page): Promise<Locator> {
  const item = page.getByRole('region', { name: 'Item' })
  await item.getByRole('heading', { name: 'Record' }).waitFor()
  return item
}

/** A tool of another server: its writes need approval depending on trust (Y9). */
export const mailTool = defineTool({
  name: 'mail_send',
  title: 'Send a mail',
  description: 'Sends a mail.',
  toolset: 'mail',
  effect: 'write',
  by: 'agent',
  input: z.object({ to: z.string(), body: z.string() }),
  output: z.object({ sent: z.boolean() }),
  describeTarget: ({ to }) => ({ domain: 'mail', target: to }),
  run: async () => ({ output: { sent: true } }),
})
