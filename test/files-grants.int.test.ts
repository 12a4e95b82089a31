import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testPlace } from './cli.ts'
import { newFolder, openPlace } from './files.ts'
import { inTerminal } from './terminal.ts'

/** As many editors save: another file takes the name. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}~`, content)
  renameSync(`${file}~`, file)
}

test('PV9 GR3 a file that was saved anew is read again once a person has allowed it', async () => {
  const { agent, owner, grant } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  await grant(file)
  const read = () => agent.call('read_file', { path: file })
  expect(await read()).toMatchObject({ text: 'one' })
  const asked = { path: file, permission: 'read', reason: 'to go on' }
  for (const [content, choice] of [
    ['two', 'file'],
    ['three', 'file_once'],
    ['four', 'folder'],
  ] as const) {
    replace(file, content)
    expect(await read()).toMatchObject({
      code: 'root_replaced',
      hint: expect.stringContaining('request_grant()'),
    })
    expect(await agent.call('check_grant', { path: file })).toMatchObject({ has_access: false })
    const { status, request_id: id } = await agent.call('request_grant', asked)
    expect(status).toBe('pending')
    await owner.call('cowork_decide', {
      approval_ids: [id],
      decision: 'approve',
      hold: false,
      grant: { choice },
    })
    expect(await agent.call('request_grant', asked)).toMatchObject({ status: 'granted' })
    expect(await read()).toMatchObject({ text: content })
  }
})

test('K5 GR5 the doctor tells of grants that open nothing', async () => {
  const user = newFolder()
  const saved = join(user, 'saved.txt')
  writeFileSync(saved, 'one')
  mkdirSync(join(user, 'Work'))
  const entries = [
    { path: join(user, 'Work'), permission: 'read' },
    { path: join(user, 'none'), permission: 'read' },
    { path: '/etc', permission: 'read' },
  ]
  const place = testPlace(`grants: ${JSON.stringify(entries)}\n`)
  await place.cowork(['up', '-d'])
  await inTerminal(place, ['grants', 'add', saved], {}).ended()
  replace(saved, 'two')
  const { stdout } = await place.cowork(['doctor', '--json'])
  const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] }
  expect(findings.filter(({ check }) => check === 'grants').map(({ message }) => message)).toEqual([
    `${saved} is granted, but something else is there now: it is not open.`,
    `The configuration grants ${join(user, 'none')}, which is not in force: nothing is there.`,
    'The configuration grants /etc, which is not in force.',
  ])
  expect((await place.cowork(['grants'])).stdout).toMatch(/no more: replaced.*saved\.txt/)
})

test('GR1 GR7 what a person looks at does not count as an agent using its grant', async () => {
  const { agent, owner, grant } = await openPlace()
  const file = join(newFolder(), 'plan.txt')
  writeFileSync(file, 'one')
  await grant(file)
  const uses = async () => {
    const { grants } = await owner.call('list_grants', {})
    return (grants as { path: string; access_count: number }[]).find(({ path }) => path === file)
      ?.access_count
  }
  await owner.call('read_file', { path: file })
  expect(await uses()).toBe(0)
  await agent.call('read_file', { path: file })
  await expect.poll(uses).toBe(1)
})
