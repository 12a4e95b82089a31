import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp } from '../src/app.ts'
import { loadConfig } from '../src/base/config/index.ts'
import { silentLog } from '../src/base/log.ts'
import { statePaths } from '../src/base/state.ts'
import type { Tool } from '../src/base/tool.ts'
import { requiredRole } from '../src/dispatch/index.ts'
import { toWireTool } from '../src/server/mcp/wire.ts'

/** Starts the system in a temporary folder, so that a new module needs no change here. */
async function readTools(): Promise<readonly Tool[]> {
  const state = mkdtempSync(join(tmpdir(), 'cowork-tools-'))
  const settings = {
    'server.port': 0,
    'workspace.path': join(state, 'workspace'),
    'work.data_root': join(state, 'worksync'),
  }
  const { config } = loadConfig({
    env: { COWORK_STATE_DIR: state },
    flags: Object.entries(settings).map(([path, value]) => ({
      path: path.split('.'),
      value,
      origin: 'the generator',
    })),
  })
  try {
    const app = await startApp({ config, paths: statePaths(state), version: '0', log: silentLog })
    await app.close()
    return app.tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}

const allTools = await readTools()

/** Lists every tool by name. */
export const tools = (): readonly Tool[] => allTools

/** Snapshots of every tool's public contract, one file each, so that a change shows in a diff. */
export const toolSnapshots = (): Record<string, string> =>
  Object.fromEntries(
    tools().map((tool) => [
      `${tool.name}.json`,
      `${JSON.stringify(toSnapshot(tool), undefined, 2)}\n`,
    ]),
  )

const toSnapshot = (tool: Tool) => ({
  ...toWireTool(tool),
  by: tool.by,
  ...(tool.by !== 'agent' && { role: requiredRole(tool) }),
  ...(tool.requiresPasskey && { assured: true }),
  effect: tool.effect,
  toolset: tool.toolset,
})

const whoMay = { agent: 'agents', human: 'people', anyone: 'agents and people' }

/** Describes who can call a tool, the required role and whether a passkey is needed. */
const formatRole = (tool: Tool) =>
  tool.by === 'agent'
    ? whoMay[tool.by]
    : `${whoMay[tool.by]} (${requiredRole(tool)}${tool.requiresPasskey ? ', with passkey' : ''})`

type Property = {
  type?: string | string[]
  description?: string
  enum?: string[]
  default?: unknown
}

function inputTable(tool: Tool): string[] {
  const schema = toWireTool(tool).inputSchema as {
    properties?: Record<string, Property>
    required?: string[]
  }
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const type = property.enum?.join(' \\| ') ?? [property.type ?? 'any'].flat().join(' \\| ')
    const must = schema.required?.includes(name)
      ? 'required'
      : property.default === undefined
        ? ''
        : `default ${JSON.stringify(property.default)}`
    return `| \`${name}\` | ${type} | ${must} | ${property.description ?? ''} |`
  })
  return rows.length > 0 ? ['', '| argument | type | | |', '|---|---|---|---|', ...rows] : []
}

export const toolsPage = (): string =>
  [
    '# Tools',
    '',
    'Generated from the tools themselves by `npm run docs`. Every tool can be called at `/mcp`, listed or not. Tools marked *default list* are listed there; `/mcp/<toolset>` lists one toolset, `/mcp?tools=all` lists all.',
    ...tools().flatMap((tool) => [
      '',
      `## ${tool.name}`,
      '',
      tool.description,
      '',
      `For ${formatRole(tool)} · ${tool.effect} · toolset \`${tool.toolset}\`${tool.core ? ' · default list' : ''}`,
      ...inputTable(tool),
    ]),
    '',
  ].join('\n')
