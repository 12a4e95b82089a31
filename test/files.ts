// A daemon with a workspace of its own, an agent in it and the person it works for.
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Entry } from '#ledger'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createClient, overMcp } from './speakers.ts'
import type { Said } from './speakers.ts'

export type Place = Awaited<ReturnType<typeof openPlace>>

/** A folder of the user's, outside of everything. */
export const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'cowork-user-')))

export async function addAgent(app: TestApp, id: string) {
  const added = await createClient(app, app.owner).call('cowork_add_agent', { id })
  const token = String(added['token'])
  return { token, api: createClient(app, token), mcp: await overMcp(app, token) }
}

/** Returns the newest ledger entries, oldest first. */
export async function listEntries(app: TestApp, query = ''): Promise<Entry[]> {
  const { body } = await createClient(app, app.owner).ask(
    `/api/ledger?newest=true&limit=1000${query}`,
  )
  return body['entries'] as Entry[]
}

export async function openPlace(
  settings: Record<string, unknown> = {},
  options: Parameters<typeof startTestApp>[1] = {},
) {
  const app = await startTestApp(settings, options)
  onTestFinished(() => app.close())
  const owner = createClient(app, app.owner)
  const agent = await addAgent(app, 'writer')
  return {
    app,
    workspace: realpathSync(app.workspace),
    owner,
    agent: agent.mcp,
    token: agent.token,
    api: agent.api,
    /** A person gives the agent a folder or file. */
    grant: (path: string, permission = 'read', more: Said = {}): Promise<Said> =>
      owner.call('add_grant', { path, permission, agent: 'writer', ...more }),
  }
}
