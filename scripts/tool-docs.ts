import { toolsOf } from '../src/app.ts'
import type { Tool } from '../src/base/tool.ts'
import { toAnswerFields } from '../src/approvals/index.ts'
import { grantDeclaration } from '../src/files/grants/request-content.ts'
import {
  callDeclaration,
  permissionDeclaration,
  proposalDeclaration,
  spotCheckDeclaration,
} from '../src/governance/answers.ts'
import { leastRole } from '../src/dispatch/index.ts'
import { wireOf } from '../src/server/mcp/wire.ts'

const files = { files: {}, grants: { defaultScope: 'permanent' }, setup: {} }
const answerFields = toAnswerFields([
  callDeclaration,
  permissionDeclaration,
  proposalDeclaration,
  grantDeclaration,
  spotCheckDeclaration,
])
const nothing = { governance: { answerFields }, files, work: {} }

/** Every tool in the order of names. Describing one touches nothing that it closes over. */
export const tools = (): Tool[] =>
  toolsOf(nothing as unknown as Parameters<typeof toolsOf>[0]).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )

/** The public face of every tool, a file each: a changed contract must show in a diff. */
export const toolSnapshots = (): Record<string, string> =>
  Object.fromEntries(
    tools().map((tool) => [`${tool.name}.json`, `${JSON.stringify(faceOf(tool), undefined, 2)}\n`]),
  )

const faceOf = (tool: Tool) => ({
  ...wireOf(tool),
  by: tool.by,
  ...(tool.by !== 'agent' && { role: leastRole(tool) }),
  ...(tool.assured && { assured: true }),
  effect: tool.effect,
  toolset: tool.toolset,
})

const whoMay = { agent: 'agents', human: 'people', anyone: 'agents and people' }

/** Who may call it, and for people the least role and whether their passkey is asked for. */
const peopleOf = (tool: Tool) =>
  tool.by === 'agent'
    ? whoMay[tool.by]
    : `${whoMay[tool.by]} (${leastRole(tool)}${tool.assured ? ', with passkey' : ''})`

type Property = {
  type?: string | string[]
  description?: string
  enum?: string[]
  default?: unknown
}

function inputTable(tool: Tool): string[] {
  const schema = wireOf(tool).inputSchema as {
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
      `For ${peopleOf(tool)} · ${tool.effect} · toolset \`${tool.toolset}\`${tool.core ? ' · default list' : ''}`,
      ...inputTable(tool),
    ]),
    '',
  ].join('\n')
