import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Caller } from '#base/caller.ts'
import type { Prompt } from '#base/prompt.ts'
import type { McpFeature } from './mcp/server.ts'

const maxNameLength = 200

/** Serves the prompts that the modules offer to a caller (SV13). */
export function promptFeature(prompts: (caller: Caller) => readonly Prompt[]): McpFeature {
  const listPrompts = (caller: Caller) =>
    prompts(caller).map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: [...args],
    }))

  function getPrompt(name: string, caller: Caller) {
    const available = prompts(caller)
    const match = available.find((prompt) => prompt.name === name)
    if (match) return match
    const names = available.map((prompt) => prompt.name).join(', ')
    throw invalidParams(`Unknown prompt: ${name.slice(0, maxNameLength)}. Available: ${names}.`)
  }

  return {
    capabilities: { prompts: {} },
    cacheHints: { 'prompts/list': { ttlMs: 60_000, cacheScope: 'private' } },
    attach(server, viewer) {
      server.setRequestHandler('prompts/list', async (_, context) => {
        return { prompts: listPrompts(await viewer.caller(context)) }
      })
      server.setRequestHandler('prompts/get', async ({ params }, context) => {
        const caller = await viewer.caller(context)
        const prompt = getPrompt(params.name, caller)
        const args = params.arguments ?? {}
        const missing = prompt.arguments.find(({ name, required }) => required && !args[name])
        if (missing)
          throw invalidParams(
            `Missing argument ${missing.name} of ${prompt.name}: ${missing.description}.`,
          )
        const text = await prompt.render(caller, args)
        return {
          description: prompt.description,
          messages: [{ role: 'user', content: { type: 'text', text } }],
        }
      })
    },
  }
}

const invalidParams = (message: string) =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message)
