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
      `You are asked because of ${secret}: it may contain secrets, ${trust}`,
    ],
    [
      'move_file',
      { source: 'credentials.txt', destination: 'temp/c.txt' },
      `Move a file: ${secret} → ${plain}`,
      `You are asked because of ${secret}: it may contain secrets, ${trust}`,
    ],
    [
      'create_file',
      { path: hook, content: '#!/bin/sh' },
      `Create a file: ${hook}`,
      `You are asked because of ${hook}: Git runs commands from it, ${trust}`,
    ],
  ] as const) {
    const result = await agent.call(tool, args)
    const id = String(result['approval_id'])
    const { body } = await owner.ask(`/api/approvals/${id}`)
    expect(body, tool).toMatchObject({ summary, risk: 'high' })
    expect((body['why'] as { text: string }).text, tool).toContain(why)
  }
})

test.each([
  ['CLAUDE.md', 'agents take instructions from it'],
  ['.claude/settings.json', 'it configures AI clients'],
  ['sub/.MCP.json', 'it configures AI clients'],
  ['.github/workflows/ci.yml', 'a build server runs commands from it'],
  ['.npmrc', 'a package manager obeys it'],
])(
  'RS9 a person is asked about %s in the workspace, whichever tool writes it',
  async (path, why) => {
    const { agent, owner } = await openPlace()
    await agent.call('create_file', { path: 'plain.txt', content: 'x' })
    await owner.call('create_file', { path, content: 'first' })
    await owner.call('update_file', { path, content: 'second' })
    const { versions } = await owner.call('file_versions', { path })
    const [version] = versions as { version_id: string }[]
    const { trash_id } = await agent.call('delete_file', { path: 'plain.txt' })
    await owner.call('create_file', { path: 'other.txt', content: 'x' })
    for (const [tool, args] of [
      ['create_file', { path, content: 'x', overwrite: true }],
      ['update_file', { path, content: 'x' }],
      ['move_file', { source: 'other.txt', destination: path }],
      ['copy_file', { source: 'other.txt', destination: path }],
      ['file_restore_version', { path, version_id: version?.version_id }],
      ['trash_restore', { trash_id, destination: path }],
    ] as const) {
      const result = await agent.call(tool, args)
      expect(result, tool).toMatchObject({ code: 'approval_required' })
      const { body } = await owner.ask(`/api/approvals/${String(result['approval_id'])}`)
      expect(body, tool).toMatchObject({ risk: 'high' })
      expect((body['why'] as { text: string }).text, tool).toContain(why)
    }
  },
)
