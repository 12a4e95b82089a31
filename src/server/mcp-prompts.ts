import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Caller } from '#base/caller.ts'
import type { Prompt } from '#base/prompt.ts'
import type { McpFeature } from './mcp/server.ts'

const longestName = 200

/** The prompts that the domains give to this caller (SV13). */
export function promptFeature(prompts: (caller: Caller) => readonly Prompt[]): McpFeature {
  const listed = (caller: Caller) =>
    prompts(caller).map(({ name, title, description, arguments: asked }) => ({
      name,
      title,
      description,
      arguments: [...asked],
    }))

  function promptOf(name: string, caller: Caller) {
    const known = prompts(caller)
    const found = known.find((prompt) => prompt.name === name)
    if (found) return found
    const names = known.map((prompt) => prompt.name).join(', ')
    throw wrong(`There is no prompt ${name.slice(0, longestName)}. These are: ${names}.`)
  }

  return {
    capabilities: { prompts: {} },
    cacheHints: { 'prompts/list': { ttlMs: 60_000, cacheScope: 'private' } },
    attach(server, viewer) {
      server.setRequestHandler('prompts/list', async (_, context) => {
        return { prompts: listed(await viewer.caller(context)) }
      })
      server.setRequestHandler('prompts/get', async ({ params }, context) => {
        const caller = await viewer.caller(context)
        const prompt = promptOf(params.name, caller)
        const given = params.arguments ?? {}
        const missing = prompt.arguments.find(({ name, required }) => required && !given[name])
        if (missing) throw wrong(`${prompt.name} needs ${missing.name}: ${missing.description}.`)
        const text = await prompt.say(caller, given)
        return {
          description: prompt.description,
          messages: [{ role: 'user', content: { type: 'text', text } }],
        }
      })
    },
  }
}

const wrong = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)
