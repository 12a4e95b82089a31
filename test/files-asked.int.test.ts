import { expect, test } from 'vitest'
import { openPlace } from './files.ts'

test('M2 PV5 F5 a person is told which name it is about and why, and both ends of a copy', async () => {
  const { agent, owner, workspace } = await openPlace()
  await owner.call('create_file', { path: 'credentials.txt', content: 'x' })
  await owner.call('create_file', { path: 'plain.txt', content: 'x' })
  const secret = `${workspace}/credentials.txt`
  const hook = `${workspace}/Code/.git/hooks/pre-commit`
  const plain = `${workspace}/temp/c.txt`
  const trust = 'and trust is low: 0.30, below 0.50'
  for (const [tool, args, summary, why] of [
    [
      'copy_file',
      { source: 'credentials.txt', destination: 'temp/c.txt' },
      `Copy a file: ${secret} → ${plain}`,
      `You are asked because of ${secret}: it is for secrets, ${trust}`,
    ],
    [
      'move_file',
      { source: 'credentials.txt', destination: 'temp/c.txt' },
      `Move a file: ${secret} → ${plain}`,
      `You are asked because of ${secret}: it is for secrets, ${trust}`,
    ],
    [
      'create_file',
      { path: hook, content: '#!/bin/sh' },
      `Create a file: ${hook}`,
      `You are asked because of ${hook}: git runs what stands in it, ${trust}`,
    ],
  ] as const) {
    const said = await agent.call(tool, args)
    const id = String(said['approval_id'])
    const { body } = await owner.ask(`/api/approvals/${id}`)
    expect(body, tool).toMatchObject({ summary, risk: 'high' })
    expect((body['why'] as { text: string }).text, tool).toContain(why)
  }
})
