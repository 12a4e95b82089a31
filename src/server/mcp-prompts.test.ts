import { describe, expect, test } from 'vitest'
import type { Prompt } from '#base/prompt.ts'
import { connect, everywhere, setup } from '../../test/waiting.ts'
import { promptFeature } from './mcp-prompts.ts'

const greet: Prompt = {
  name: 'greet',
  title: 'Greet',
  description: 'Greets someone',
  arguments: [
    { name: 'whom', description: 'The name', required: true },
    { name: 'how', description: 'The word' },
  ],
  render: async (caller, { whom, how = 'Hello' }) => `${how} ${whom}, says ${caller.id}.`,
}
const plain: Prompt = { ...greet, name: 'plain', arguments: [], render: async () => 'Begin.' }

describe.each(everywhere)('over %s, %s era', (door, era) => {
  async function start() {
    const { rig } = await setup({ features: [promptFeature(() => [greet, plain])] })
    return connect(rig, { door, era })
  }

  test('SV13 prompts are listed with their arguments and contain the data of the caller', async () => {
    const client = await start()
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {} })
    const { render: _, ...shown } = greet
    const { prompts } = await client.listPrompts()
    expect(prompts).toEqual([shown, { ...shown, name: 'plain', arguments: [] }])
    const text = await client.getPrompt({ name: 'greet', arguments: { whom: 'anna' } })
    expect(text).toMatchObject({
      description: 'Greets someone',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello anna, says sales.' } }],
    })
    expect(await client.getPrompt({ name: 'plain' })).toMatchObject({
      messages: [{ content: { text: 'Begin.' } }],
    })
  })

  test('SV13 an unknown prompt or a missing argument is an invalid parameter', async () => {
    const client = await start()
    for (const name of ['nothing', '', 'toString', 'x'.repeat(10_000)])
      await expect(client.getPrompt({ name }), name).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(/Unknown prompt: .{0,200}\. Available: greet, plain\./),
      })
    for (const given of [{}, { how: 'Hi' }, { whom: '' }])
      await expect(client.getPrompt({ name: 'greet', arguments: given })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('Missing argument whom of greet'),
      })
  })
})
