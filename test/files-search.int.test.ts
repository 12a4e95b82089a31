import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { buildDocx, paragraph, buildPdf } from './documents.ts'
import { listEntries, newFolder, openPlace } from './files.ts'

type Place = Awaited<ReturnType<typeof openPlace>>

const searchOf =
  ({ agent }: Pick<Place, 'agent'>) =>
  async (input: object) => {
    const found = await agent.call('search_files', input)
    const results = (found['results'] ?? []) as { path: string }[]
    return { ...found, paths: results.map(({ path }) => path) }
  }

/** A folder of the user's own, with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = newFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

test('FT6 FT8 a search stays in the folder that is named, in the workspace and under a grant, and is on record there', async () => {
  const place = await openPlace()
  const { app, agent, workspace, grant } = place
  const search = searchOf(place)
  const mine = folderOf({ 'reports/plan.md': 'needle', 'plan.md': 'needle' })
  await agent.call('create_file', { path: 'Documents/notes/plan.md', content: 'needle' })
  await agent.call('create_file', { path: 'plan.md', content: 'needle' })
  const own = [join(workspace, 'Documents/notes/plan.md')]
  expect((await search({ query: 'plan', path: 'Documents' })).paths).toEqual(own)
  expect((await search({ query: 'plan', path: join(workspace, 'Documents') })).paths).toEqual(own)
  const closed = { query: 'plan', path: join(mine, 'reports') }
  expect(await search(closed)).toMatchObject({ code: 'no_grant' })
  const { id } = await grant(mine)
  const theirs = [join(mine, 'reports/plan.md')]
  for (const search_type of ['filename', 'content'])
    for (const search_in of ['workspace', 'granted', 'all'])
      expect(
        (await search({ query: 'n', path: join(mine, 'reports'), search_type, search_in })).paths,
      ).toEqual(theirs)
  // A file alone, too.
  const one = { query: 'NEEDLE', path: join(mine, 'plan.md'), search_type: 'content' }
  expect((await search(one)).paths).toEqual([join(mine, 'plan.md')])
  const subject = join(mine, 'reports')
  await expect
    .poll(() => listEntries(app, '&tool=search_files&type=call.done'))
    .toContainEqual(
      expect.objectContaining({ subject, ids: expect.objectContaining({ grant: id }) }),
    )
  expect(await listEntries(app, '&tool=search_files&type=call.refused')).toMatchObject([
    { subject, outcome: 'no_grant' },
  ])
})

test('PV2 PV4 GR6 the folder of a search is checked like any other path', async () => {
  const place = await openPlace()
  const { workspace, grant } = place
  const search = searchOf(place)
  const mine = folderOf({ '.ssh/plan': '', 'plan.md': '', 'file/plan.md': '' })
  symlinkSync(mine, join(workspace, 'out'))
  await grant(join(mine, 'file'))
  await grant(join(mine, 'plan.md'))
  const codeOf = async (path: string) => (await search({ query: 'plan', path }))['code' as never]
  expect(await codeOf('../x')).toBe('path_traversal')
  expect(await codeOf('out')).toBe('path_escape')
  expect(await codeOf(join(mine, '.ssh'))).toBe('forbidden_path')
  expect(await codeOf(mine)).toBe('no_grant')
  expect(await codeOf('nowhere')).toBe('not_found')
  expect(await codeOf(join(mine, 'plan.md'))).toBeUndefined()
})

test('FT6 what was not looked into is said, by what it is, and the first are named', async () => {
  const place = await openPlace({ 'security.max_binary_read_mb': 1 })
  const { workspace } = place
  const search = searchOf(place)
  const put = (name: string, content: string | Buffer) =>
    writeFileSync(join(workspace, name), content)
  put('big.txt', `needle\n${'x'.repeat(1_500_000)}`)
  const content = { query: 'needle', search_type: 'content' }
  const large = await search(content)
  const tooLarge = `1 file was not searched (too large): ${join(workspace, 'big.txt')}`
  expect(large).toMatchObject({ total_count: 0, skipped: [tooLarge] })
  expect(large).toMatchObject({ text: expect.stringContaining(tooLarge) })
  for (let at = 1; at <= 6; at++) put(`${at}.docx`, buildDocx(paragraph('needle')))
  put('invoice.pdf', buildPdf('needle'))
  put('secrets.txt', 'needle')
  put('plain.txt', 'needle')
  const all = await search(content)
  const documents = [1, 2, 3, 4, 5].map((at) => join(workspace, `${at}.docx`)).join(', ')
  expect(all).toMatchObject({
    total_count: 1,
    skipped: [
      `7 documents were not searched (use read_file): ${documents} and 2 more`,
      `1 file was not searched (sensitive): ${join(workspace, 'secrets.txt')}`,
      tooLarge,
    ],
  })
  expect(JSON.stringify(all)).not.toContain('Tj')
  expect(await search({ query: 'big' })).not.toHaveProperty('skipped')
})

test('FT6 extensions are accepted as people write them, and invalid ones are refused', async () => {
  const place = await openPlace()
  const { agent, workspace } = place
  const search = searchOf(place)
  for (const name of ['a.ts', 'b.TS', 'c.md', 'd.d.ts'])
    await agent.call('create_file', { path: `Code/${name}`, content: 'x' })
  const found = ['a.ts', 'b.TS', 'd.d.ts'].map((name) => join(workspace, 'Code', name))
  for (const type of ['ts', '.ts', '*.ts', '*.TS']) {
    const { paths } = await search({ query: '*', path: 'Code', file_types: [type] })
    expect(paths, type).toEqual(found)
  }
  const declared = await search({ query: '*', path: 'Code', file_types: ['*.d.ts'] })
  expect(declared.paths).toEqual(found.slice(2))
  for (const type of ['', '*', '*.*', '**/*.ts', '.{ts,md}'])
    expect(await search({ query: '*', file_types: [type] }), type).toMatchObject({
      code: 'invalid_query',
      text: expect.stringContaining('such as .md'),
    })
})

test('FT6 an absolute path as query is refused with a hint', async () => {
  const place = await openPlace()
  const { workspace, grant } = place
  const search = searchOf(place)
  const mine = folderOf({ 'notes/a.md': '/notes/' })
  await grant(mine)
  const split = [
    [`${mine}/**/*.md`, mine, '**/*.md'],
    [`${mine}/notes/*.md`, join(mine, 'notes'), '*.md'],
    [`${mine}/notes/a.md`, join(mine, 'notes'), 'a.md'],
  ] as const
  for (const [whole, path, query] of split) {
    const hint = `Use path ${JSON.stringify(path)} and query ${JSON.stringify(query)}.`
    for (const search_in of ['workspace', 'all'])
      expect(await search({ query: whole, search_in })).toMatchObject({
        code: 'invalid_query',
        text: expect.stringContaining(hint),
      })
    expect((await search({ path, query })).paths).toEqual([join(mine, 'notes/a.md')])
  }
  const atHome = await search({ query: '~/Documents/**/*.md' })
  const text = expect.stringContaining('"~/Documents" and query "**/*.md"')
  expect(atHome).toMatchObject({ code: 'invalid_query', text })
  expect(await search({ query: '/notes' })).toMatchObject({
    code: 'invalid_query',
    text: expect.stringContaining('Use a name or a relative path'),
  })
  // In a content it is a text like any other, and `~` may begin a name.
  writeFileSync(join(workspace, '~$plan.md'), 'x')
  expect((await search({ query: '~$' })).paths).toEqual([join(workspace, '~$plan.md')])
  const content = { query: '/notes/', search_type: 'content', path: mine }
  expect((await search(content)).paths).toEqual([join(mine, 'notes/a.md')])
})

test('FT6 GR7 a grant that is revoked during a search takes nothing from the other places', async () => {
  const place = await openPlace()
  const { workspace, owner, grant } = place
  const search = searchOf(place)
  const text = `${'nothing of it here\n'.repeat(50_000)}needle\n`
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.txt`, text]))
  const [mine, other] = [folderOf({ 'a.txt': 'needle' }), folderOf(files)]
  writeFileSync(join(workspace, 'own.txt'), 'needle')
  await grant(mine)
  const others = [join(workspace, 'own.txt'), join(mine, 'a.txt')]
  const asked = { query: 'n[e]{2}dle', search_type: 'regex', search_in: 'all', limit: 1000 }
  // Later and later, until it comes in the midst of the search.
  for (let n = 0; ; n++) {
    const { id } = await grant(other)
    const searching = search(asked)
    await sleep(n * 20)
    await owner.call('revoke_grant', { grant_id: id })
    const { isError, paths, ...more } = await searching
    const skipped = 'skipped' in more && more.skipped
    expect({ isError, first: paths.slice(0, 2) }).toEqual({ isError: false, first: others })
    if (skipped) {
      const message = `1 path was not searched (grant ended during the search): ${other}`
      expect({ skipped, paths }).toEqual({ skipped: [message], paths: others })
      break
    }
    expect(n, 'no search was met').toBeLessThan(50)
  }
})
