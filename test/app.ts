import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/base/config/index.ts'
import { silentLog } from '../src/base/log.ts'
import { readOrCreateOwnerToken, statePaths } from '../src/base/state.ts'
import { migrations, startApp } from '../src/app.ts'
import { findRouteMismatch, findToolMismatch } from '#wire'
import type { App, AppOptions } from '../src/app.ts'
import { copyTemplate } from './stores.ts'

export type TestApp = App & {
  readonly state: string
  readonly workspace: string
  readonly owner: string
  readonly url: string
  /** Calls a tool as the owner, over the API. */
  call(tool: string, args?: Record<string, unknown>, token?: string): Promise<Response>
}

type Setting = { readonly path: string[]; readonly value: unknown }

/** The real system in this process, on a free port and a folder of its own. */
export async function startTestApp(
  settings: Record<string, unknown> = {},
  options: Partial<AppOptions> & { state?: string } = {},
): Promise<TestApp> {
  const state = options.state ?? mkdtempSync(join(tmpdir(), 'cowork-app-'))
  // Never the home of whoever runs the tests.
  const own = {
    'server.port': 0,
    'workspace.path': join(state, 'workspace'),
    'work.data_root': join(state, 'worksync'),
  }
  const given: Setting[] = Object.entries({ ...own, ...settings }).map(([path, value]) => ({
    path: path.split('.'),
    value,
  }))
  const flags = given.map(({ path, value }) => ({ path, value, origin: 'the test' }))
  const { config } = loadConfig({ env: { COWORK_STATE_DIR: state }, flags })
  const paths = statePaths(state)
  if (options.state === undefined && config.storage.url === undefined)
    await copyTemplate(config.storage.path, migrations)
  const app = await startApp({ config, paths, version: '0.0.0-test', log: silentLog, ...options })
  const owner = readOrCreateOwnerToken(paths)
  const url = `http://localhost:${app.port}`
  return {
    ...app,
    state,
    workspace: config.workspace.path,
    owner,
    url,
    call: (tool, args = {}, token = owner) =>
      checked(
        fetch(`${url}/api/tools/${tool}/call`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ arguments: args }),
        }),
        'POST',
      ),
  }
}

/** Checks an answer of the API by the schema that clients read it with, so that no story is told past it. */
export async function checked(answering: Promise<Response>, method: string): Promise<Response> {
  const answer = await answering
  // 202 answers with a problem: a person decides first.
  if (answer.status !== 200 || !answer.headers.get('content-type')?.includes('json')) return answer
  const path = new URL(answer.url).pathname
  const tool = /^\/api\/tools\/([^/]+)\/call$/.exec(path)?.[1]
  const text = await answer.clone().text()
  const body = JSON.parse(text) as { output?: unknown }
  const mismatch =
    findRouteMismatch(method, path, body) ??
    (tool === undefined ? undefined : findToolMismatch(tool, body.output))
  if (mismatch !== undefined)
    throw new Error(`${method} ${path} answers past its schema: ${mismatch}`)
  return answer
}
