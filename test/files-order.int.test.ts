import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openPlace } from './files.ts'
import type { Place } from './files.ts'

const names = ['p.md', 'q.md', 'd/p.md', 'd/q.md']
const end = 'END\n'

type Step = { readonly act: string; readonly at: string; readonly to: string }

const stepArbitrary = fc.record({
  act: fc.constantFrom('create', 'update', 'update', 'update', 'move', 'delete', 'restore'),
  at: fc.constantFrom(...names),
  to: fc.constantFrom(...names, 'd', 'e'),
})

/** Each change adds a unique word, so that the content shows which versions a file must have. */
async function runStep({ api }: Place, { act, at, to }: Step, word: string): Promise<void> {
  if (act === 'create') await api.call('create_file', { path: at, content: `${word} ${end}` })
  else if (act === 'update') {
    const edits = [{ old: end, new: `${word} ${end}` }]
    await api.call('update_file', { path: at, edits, create_backup: false })
  } else if (act === 'move')
    await api.call('move_file', { source: to.includes('.') ? at : 'd', destination: to })
  else if (act === 'delete') await api.call('delete_file', { path: at })
  else {
    const { items } = (await api.call('trash_list')) as { items: { trash_id: string }[] }
    const id = items[0]?.trash_id
    if (id) await api.call('trash_restore', { trash_id: id, destination: to })
  }
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('.cowork'))

const ascending = (a: number, b: number) => a - b

/** The sizes of the earlier contents, derived from the words. */
function expectedSizes(text: string): number[] {
  const words = text.trimEnd().split(' ').slice(0, -1)
  return words.slice(1).map((_, n) => `${words.slice(0, n + 1).join(' ')} ${end}`.length)
}

test('TR3 FT9 versions move with their file under concurrent operations on the same names', async () => {
  const place = await openPlace({ 'versions.max_per_file': 1000 })
  const { api, workspace } = place
  const steps = fc.sample(stepArbitrary, 1200)
  let word = 0
  const runSteps = async () => {
    for (let next = steps.pop(); next; next = steps.pop()) await runStep(place, next, `w${++word}`)
  }
  await Promise.all(Array.from({ length: 12 }, runSteps))
  // Items in the trash are restored to unused paths.
  for (;;) {
    const { items } = (await api.call('trash_list')) as { items: { trash_id: string }[] }
    if (items.length === 0) break
    for (const { trash_id } of items)
      expect(
        await api.call('trash_restore', { trash_id, destination: `back/${trash_id}.md` }),
      ).toMatchObject({ success: true })
  }
  for (const path of listFiles(workspace)) {
    const { versions } = (await api.call('file_versions', { path })) as {
      versions: { size_bytes: number }[]
    }
    const sizes = versions.map(({ size_bytes }) => size_bytes).toSorted(ascending)
    expect({ path, sizes }).toEqual({ path, sizes: expectedSizes(readFileSync(path, 'utf8')) })
  }
})
