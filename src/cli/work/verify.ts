import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readYaml } from '#base/config/yaml.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import { randomHex } from '#base/ids.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { exitCode } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { helloOf } from '../mcp.ts'
import { plain } from '../plain.ts'
import { loadSettings } from '../settings.ts'
import { countText } from '../sizes.ts'
import { checkClient, missing } from './client-check.ts'
import type { Check } from './client-check.ts'
import { openHttp, openStdio } from './mcp-door.ts'
import type { Door, Hello } from './mcp-door.ts'

const ownName = 'work-verify'

/**
 * The client check of seed 003 against the daemon that runs: every tool over MCP, through the socket of
 * stdio clients and through the address for work where that is open (W42).
 */
export async function verifyWork(
  context: Context,
  { agent }: { readonly agent?: string },
): Promise<ExitCode> {
  const { paths, out } = context
  const client = createClient(context)
  const caller = await callerFor(context, client, agent)
  const told: { readonly over: string; readonly checks: readonly Check[] }[] = []
  try {
    const url = runningDaemon(paths)?.workUrl
    const doors = [
      () => openStdio(paths, caller.hello),
      ...(url === undefined ? [] : [() => openHttp(url, caller.hello.token)]),
    ]
    for (const open of doors) {
      const door = await open()
      try {
        told.push({ over: door.name, checks: await onScratch(client, door) })
      } finally {
        await door.close()
      }
    }
  } finally {
    await caller.end()
  }
  const failed = told.flatMap(({ checks }) => checks).filter(({ fault }) => fault !== undefined)
  out.data({ ok: failed.length === 0, over: told }, () =>
    told.flatMap(({ over, checks }) => [
      `over ${plain(over)}`,
      ...checks.map(({ name, fault }) =>
        fault === undefined ? `  ok    ${name}` : `  FAIL  ${name}: ${plain(fault)}`,
      ),
    ]),
  )
  if (failed.length === 0) return exitCode.ok
  out.note(`${countText(failed.length, 'check')} failed. The log of the daemon is ${paths.log}.`)
  return exitCode.failed
}

type Calling = { readonly hello: Hello; end(): Promise<void> }

/** On MCP everybody is an agent: the one named, nobody in particular, or one that is there for the check only. */
async function callerFor(
  context: Context,
  client: Client,
  agent: string | undefined,
): Promise<Calling> {
  const { paths, env } = context
  const hello: Hello = { cowork: 1, ...helloOf({ paths, env, agent: agent ?? ownName }) }
  const { auth } = await client.call('cowork_status')
  const asIs = { hello, end: async () => undefined }
  if (hello.token !== undefined) return asIs
  if (auth === 'open') {
    const { api_key: token } = (await loadSettings(context)).config.work
    if (token === undefined || !(await needsKey(client))) return asIs
    return { ...asIs, hello: { cowork: 1, token } }
  }
  if (agent !== undefined)
    throw new CoworkError('auth_error', `There is no token kept for ${plain(agent)}.`, {
      hint: 'Leave --agent out: an agent is made for the check and revoked after it.',
    })
  const made = await client.call('cowork_add_agent', {
    id: ownName,
    scopes: ['*:work'],
  })
  const end = async () => void (await client.call('cowork_revoke_agent', { id: ownName }))
  return { hello: { cowork: 1, token: made.token }, end }
}

/** Whether the daemon was started with WORKSYNC_API_KEY: its holder is then one of the agents (W2). */
async function needsKey(client: Client): Promise<boolean> {
  const { agents } = await client.call('cowork_list_agents')
  return agents.some(({ id }) => id === 'worksync')
}

/** On a project that was not there before and is not there afterwards. */
async function onScratch(client: Client, door: Door): Promise<Check[]> {
  const project = `verify-${randomHex(4)}`
  await client.call('worksync_register_project', {
    project,
    description: 'cowork work verify',
  })
  let checks: Check[] = []
  try {
    checks = await checkClient(door, project)
  } finally {
    checks.push(...(await removed(client, project)))
  }
  return checks
}

/** Unregistered, its file read as it was left, and then all of it is gone: files, and notes in the vault. */
async function removed(client: Client, project: string): Promise<Check[]> {
  const { folder } = await client.call('worksync_unregister_project', {
    project,
  })
  const file = join(folder, 'work-index.yaml')
  const inFile = attempt('work-index.yaml', () => {
    const fault = missing(left, readYaml(readFileSync(file, 'utf8')).value, '')
    if (fault !== undefined) throw new CoworkError('failed', `in the file ${fault}`)
  })
  const { vault_path: vault } = await client.call('worksync_sync')
  const cleared = attempt('removed again', () => {
    for (const place of [folder, join(vault, 'projects', project)])
      if (basename(place) === project) rmSync(place, { recursive: true, force: true })
  })
  return [inFile, cleared]
}

/** What the calls leave behind, as people find it in the file. */
const left = {
  sprints: [
    {
      id: 'check-sprint',
      stories: [{ id: 'STORY-1', status: 'done', notes: 'under way' }],
    },
  ],
  history: [{ summary: 'All of it answers' }],
}

function attempt(name: string, act: () => void): Check {
  try {
    act()
    return { name }
  } catch (error) {
    return { name, fault: messageOf(error) }
  }
}
