// The set for the cases of the research list: a running daemon with a workspace, granted folders, and private files
// next to them.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startTestApp } from '../app.ts'
import { cowork } from '../daemon.ts'
import { createClient } from '../speakers.ts'
import type { Said } from '../speakers.ts'
import { extractContent, readText } from '../text-results.ts'

export type Door = 'http' | 'stdio'

export type Reply = {
  /** Absent when it went well. */
  readonly code: string | undefined
  /** The text that a model reads. */
  readonly text: string
  readonly output: Said
  /** All that came over the wire. */
  readonly wire: string
}

/** An agent with an MCP client of its own. */
export type Agent = {
  call(tool: string, args?: object): Promise<Reply>
  /** Returns the content, or the reason of the refusal. */
  readResource(uri: string): Promise<string>
  close(): Promise<void>
}

type Entry = {
  readonly seq: number
  readonly type: string
  readonly subject?: string
  readonly outcome?: string
  readonly actor: { readonly id: string }
  readonly ids: { readonly call?: string; readonly grant?: string }
  readonly data: { readonly tool?: string; readonly area?: string }
}

export type Stand = Awaited<ReturnType<typeof openStand>>

/** In the file outside, and nowhere else. */
export const secret = 'crown-jewels-4711'
export const secretName = 'treasure.txt'

/** In the workspace: whoever reads it finds the server alive. */
export const signOfLife = 'alive.txt'

/** Folders next to the granted folder, with almost the same name. */
export const siblings = ['granted-evil', 'granted ', "granted'"]

export async function openStand(settings: Record<string, unknown> = {}) {
  const base = mkdtempSync(join(tmpdir(), 'cowork-adversarial-'))
  const folder = (name: string) => {
    mkdirSync(join(base, name), { recursive: true })
    return join(base, name)
  }
  const outside = folder('outside')
  for (const name of ['outside', ...siblings])
    writeFileSync(join(folder(name), secretName), `${secret}\n`)
  writeFileSync(join(outside, 'shared.txt'), 'one and two\n')
  const workspace = folder('workspace')
  const granted = folder('granted')
  const readable = folder('readable')
  const alias = join(base, 'alias')
  symlinkSync(granted, alias)
  writeFileSync(join(workspace, signOfLife), 'alive')

  const state = folder('state')
  const app = await startTestApp({ 'workspace.path': workspace, ...settings }, { state })
  const owner = createClient(app, app.owner)
  const token = String((await owner.call('cowork_add_agent', { id: 'mallory' }))['token'])
  const grant = async (path: string, permission: string, more: object = {}): Promise<string> =>
    String((await owner.call('add_grant', { path, permission, ...more }))['id'])
  const grants = {
    granted: await grant(granted, 'read-write'),
    readable: await grant(readable, 'read'),
  }

  const open: Agent[] = []
  return {
    base,
    state,
    app,
    owner,
    token,
    outside,
    workspace,
    granted,
    readable,
    alias,
    grants,
    grant,
    async connect(door: Door): Promise<Agent> {
      const agent = await connect(door, { url: app.mcpUrl, state, token })
      open.push(agent)
      return agent
    },
    /** A folder of the user's beside the others, with files in it. */
    folder(name: string, files: Readonly<Record<string, string>> = {}): string {
      for (const [file, content] of Object.entries(files))
        writeFileSync(join(folder(name), file), content)
      return folder(name)
    },
    /** The newest entry, and those after one. */
    async ledgerSize(): Promise<number> {
      return Number((await owner.ask('/api/ledger?limit=1')).body['size'])
    },
    async entriesAfter(seq: number): Promise<Entry[]> {
      const { body } = await owner.ask(`/api/ledger?limit=1000&after=${seq}`)
      return body['entries'] as Entry[]
    },
    /** All of the disk around that no call may change. */
    around: () => ['outside', ...siblings].flatMap((name) => fingerprint(join(base, name))),
    async close() {
      for (const agent of open) await agent.close()
      await app.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

async function connect(
  door: Door,
  { url, state, token }: { url: string; state: string; token: string },
): Promise<Agent> {
  const client = new Client(
    { name: 'adversary', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  if (door === 'http') {
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  } else {
    const { command, args, env } = cowork(state)
    const variables = { ...env, PATH: env.PATH ?? '', COWORK_TOKEN: token }
    await client.connect(
      new StdioClientTransport({ command, args: [...args, 'mcp'], env: variables }),
    )
  }
  return {
    async call(name, args = {}) {
      const answer = await client.callTool({ name, arguments: { ...args } })
      const blocks = answer.content as { type: string; text?: string }[]
      const result = blocks.map((block) => block.text ?? '').join('\n')
      const isContent = name === 'read_file' && answer.isError !== true
      const text = isContent ? extractContent(result) : result
      const output = (answer.structuredContent ?? readText(name, text)) as Said
      return {
        code: answer.isError === true ? String(output['code']) : undefined,
        text,
        output,
        wire: JSON.stringify(answer),
      }
    },
    readResource: (uri) =>
      client.readResource({ uri }).then(
        (found) => JSON.stringify(found),
        (error: unknown) => `refused: ${String(error)}`,
      ),
    close: () => client.close(),
  }
}

/** Every file below, with all that a careless write would change. */
function fingerprint(path: string): string[] {
  const stat = lstatSync(path, { bigint: true })
  const own = `${path} ${stat.mode} ${stat.ino} ${stat.size} ${stat.mtimeNs}`
  if (stat.isDirectory())
    return [
      own,
      ...readdirSync(path)
        .toSorted()
        .flatMap((name) => fingerprint(join(path, name))),
    ]
  if (stat.isSymbolicLink()) return [`${own} ${readlinkSync(path)}`]
  return [stat.isFile() ? `${own} ${readFileSync(path, 'base64')}` : own]
}
