import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readYaml } from '#base/config/yaml.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import { randomHex } from '#base/ids.ts'
import { createClient, tokenOf } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { exitCode } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { plain } from '../plain.ts'
import { checkClient, missing } from './client-check.ts'
import type { Check } from './client-check.ts'
import { openHttp, openStdio } from './mcp-door.ts'
import type { Door } from './mcp-door.ts'

/**
 * The client check of seed 003 against the daemon that runs: every tool over MCP, through the socket of
 * stdio clients and through the address for work where that is open (W42).
 */
export async function verifyWork(context: Context): Promise<ExitCode> {
  const { paths, env, out } = context
  const client = createClient(context)
  // The daemon of this folder before anything else: only then is the address its own.
  const { projects } = await client.call<{ projects: unknown[] }>('worksync_projects')
  out.note(`${projects.length} projects are there; the check makes one more and removes it.`)
  const token = tokenOf(paths, env)
  const url = runningDaemon(paths)?.workUrl
  const doors = [
    () => openStdio(paths, token),
    ...(url === undefined ? [] : [() => openHttp(url, token)]),
  ]
  const told: { readonly over: string; readonly checks: readonly Check[] }[] = []
  for (const open of doors) {
    const door = await open()
    try {
      told.push({ over: door.name, checks: await onScratch(client, door) })
    } finally {
      await door.close()
    }
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
  out.note(`${failed.length} checks failed. The log of the daemon is ${paths.log}.`)
  return exitCode.failed
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
  const { folder } = await client.call<{ folder: string }>('worksync_unregister_project', {
    project,
  })
  const file = join(folder, 'work-index.yaml')
  const inFile = attempt('work-index.yaml', () => {
    const fault = missing(left, readYaml(readFileSync(file, 'utf8')).value, '')
    if (fault !== undefined) throw new CoworkError('failed', `in the file ${fault}`)
  })
  const { vault_path: vault } = await client.call<{ vault_path: string }>('worksync_sync')
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
