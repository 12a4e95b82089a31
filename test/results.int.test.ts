import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../scripts/tool-docs.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { examples } from './recorded-results.ts'
import type { Scene } from './recorded-results.ts'
import type { Said } from './speakers.ts'

// `npm run results` writes test/__results__ again.

type Sent = { content: { type: string; text?: string }[]; structuredContent?: Said }

const agent = 'main'
const textIn = ({ content }: Sent) => content.map(({ text = '' }) => text).join('\n')

/** Every text and number of a value, one to a line. */
function leavesOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.values(value).map(leavesOf).join('\n')
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inside, name) => (inside as Said | undefined)?.[name], value)
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The same in every run: without ids, times, places and what depends on the machine. */
function normalize(value: unknown, { app, outside }: Scene): unknown {
  const text = JSON.stringify(value)
    .replaceAll(outside, '<outside>')
    .replaceAll(app.workspace, '<workspace>')
    .replaceAll(app.state, '<state>')
    .replaceAll(app.url, '<url>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/\d{4}-\d\d-\d\d/g, '<date>')
    .replaceAll(/(?<=containment\\?":\\?")[a-z]+/g, '<containment>')
    // Reads are recorded a little later, so numbers of entries differ from run to run.
    .replaceAll(/(?<=seq\\?":)\d+/g, '0')
    .replaceAll(/(?<=latency_p\d\d\\?":)[\d.]+/g, '0')
    .replaceAll(/(?<="data":")[^"]+/g, '<base64>')
  return JSON.parse(text)
}

describe.each(['legacy', 'auto'] as const)('%s era', (mode) => {
  let app: TestApp
  let client: Client
  let scene: Scene
  const done: string[] = []

  beforeAll(async () => {
    app = await startTestApp()
    client = new Client({ name: agent, version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(app.mcpUrl)))
    const call = async (name: string, args: Said) =>
      (await client.callTool({ name, arguments: args })).structuredContent as Said
    const outside = mkdtempSync(join(tmpdir(), 'cowork-outside-'))
    writeFileSync(join(outside, 'a.txt'), 'a')
    scene = { app, outside, ids: {}, call }
  })
  afterAll(async () => {
    await client.close()
    await app.close()
  })

  // In this order: each finds what those before have left.
  test.each(examples)('SV19 $name: each fact is in every half', async (example) => {
    const { name, tool, facts, before, keep = {} } = example
    await before?.(scene)
    const args = example.arguments(scene)
    const result = await client.callTool({ name: tool, arguments: args })
    const sent = { ...(result as Sent & { isError?: boolean }) }
    const { structuredContent } = sent
    for (const [as, path] of Object.entries(keep))
      scene.ids[as] = String(valueAt(structuredContent, path))
    const found = facts.map((fact) => {
      if (fact.startsWith('"')) return [fact, JSON.parse(fact) as string] as const
      const value = valueAt(structuredContent, fact)
      expect(value, `${fact} in structuredContent`).toBeDefined()
      return [fact, asText(value)] as const
    })
    for (const [fact, value] of found) {
      expect(textIn(sent), `${fact} in the text`).toContain(value)
      if (structuredContent)
        expect(leavesOf(structuredContent), `${fact} in the structure`).toContain(value)
    }
    const recorded = {
      tool,
      arguments: args,
      facts: Object.fromEntries(found),
      ...(sent.isError && { isError: true }),
      content: sent.content,
      ...(structuredContent && { structuredContent }),
    }
    const json = `${JSON.stringify(normalize(recorded, scene), undefined, 2)}\n`
    done.push(tool)
    await expect(json).toMatchFileSnapshot(`__results__/${name}.json`)
  })

  test('SV19 every tool that an agent may call over MCP has an example', () => {
    const callable = tools().filter(
      ({ by, allowsUnverified }) => by !== 'human' || allowsUnverified,
    )
    const missing = callable.map(({ name }) => name).filter((name) => !done.includes(name))
    expect(missing).toEqual([])
  })

  test('SV19 with ?results=structured every tool sends both halves', async () => {
    const asking = new Client({ name: agent, version: '1' }, { versionNegotiation: { mode } })
    const url = new URL(`${app.mcpUrl}?results=structured`)
    await asking.connect(new StreamableHTTPClientTransport(url))
    const read = await asking.callTool({ name: 'read_file', arguments: { path: 'notes.txt' } })
    expect(read.structuredContent).toMatchObject({ content: 'one\ntwo\n', encoding: 'utf-8' })
    const handoff = { domain: 'crm', reason: 'Full', confidence: 0.5, context: { deal: 7 } }
    const over = await asking.callTool({ name: 'cowork_handoff', arguments: handoff })
    expect(over.structuredContent).toMatchObject({ context_packet: { context: { deal: 7 } } })
    await asking.close()
  })
})
