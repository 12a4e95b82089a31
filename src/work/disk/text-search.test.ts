import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTextSearch, readTextFile, textPath } from './text-search.ts'

const ids = ['later', 'a/b', '..', 'Über uns', 'x'.repeat(200)]
const words = ['login', 'page', '漢']
/** Texts mostly of the same length, so that the size rarely changes. */
const textArbitrary = fc.constantFrom('Login PAGE', 'login only', 'page 漢..', 'nothing...', '')

type Step =
  | { readonly as: 'save' | 'replace' | 'link'; readonly id: string; readonly text: string }
  | { readonly as: 'remove' | 'folder' | 'bytes' | 'long'; readonly id: string }
  | { readonly as: 'all' }

const id = fc.constantFrom('later', 'later', ...ids)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      as: fc.constantFrom('save', 'save', 'save', 'replace', 'link'),
      id,
      text: textArbitrary,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ as: fc.constantFrom('remove', 'folder', 'bytes', 'long'), id }),
  },
  { weight: 1, arbitrary: fc.constant({ as: 'all' }) },
)

/** Applies the actions of a person to a project folder. */
function personAt(folder: string) {
  const backlog = join(folder, 'BACKLOG')
  mkdirSync(backlog)
  return (one: Step): void => {
    if (one.as === 'all') {
      rmSync(backlog, { recursive: true })
      mkdirSync(backlog)
      return
    }
    const path = join(folder, textPath(one.id))
    if (one.as !== 'save') rmSync(path, { recursive: true, force: true })
    try {
      if (one.as === 'save') writeFileSync(path, one.text)
      if (one.as === 'folder') mkdirSync(path)
      if (one.as === 'bytes') writeFileSync(path, Buffer.from([0x6c, 0xff]))
      if (one.as === 'long') writeFileSync(path, 'login '.repeat(50_000))
      if (one.as === 'link') {
        writeFileSync(join(folder, 'elsewhere'), one.text)
        symlinkSync(join(folder, 'elsewhere'), path)
      }
      if (one.as === 'replace') {
        writeFileSync(join(folder, 'new'), one.text)
        utimesSync(join(folder, 'new'), 1, 1)
        renameSync(join(folder, 'new'), path)
      }
    } catch (error) {
      // A link or folder can block a save.
      if (one.as !== 'save') throw error
    }
  }
}

/** Finds the words by reading each text. */
const wordsThere = (folder: string) =>
  new Map(
    ids.flatMap((one): [string, string[]][] => {
      const found = readTextFile(folder, one)
      const text = found.as === 'text' ? found.text.toLowerCase() : ''
      const held = words.filter((word) => text.includes(word))
      return held.length > 0 ? [[one, held]] : []
    }),
  )

/** Returns the search result and the expected result after each action. */
async function walk(steps: readonly Step[], aheadMs: number, limits = {}, tickMs = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-words-'))
  const texts = createTextSearch(() => Date.now() + aheadMs, limits)
  const act = personAt(folder)
  const found: Map<string, readonly string[]>[] = []
  const there: typeof found = []
  const look = async () => {
    found.push(await texts.find(folder, ids, words))
    there.push(wordsThere(folder))
  }
  for (const one of steps) {
    await sleep(tickMs)
    act(one)
    await look()
  }
  rmSync(folder, { recursive: true })
  return { found, there }
}

test('W25 W20 search finds the current words, however fast people save', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { found, there } = await walk(steps, 0)
      expect(found).toEqual(there)
    }),
  )
})

test('W25 W20 search finds the current words with all, some or no texts cached', async () => {
  // With a clock ahead no file counts as fresh, so all are cached; two saves then need different
  // times.
  const ahead = 3_600_000
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom({}, { maxChars: 15 }, { maxChars: 0 }),
      fc.array(step, { maxLength: 12 }),
      async (limits, steps) => {
        const { found, there } = await walk(steps, ahead, limits, 15)
        expect(found).toEqual(there)
      },
    ),
    { numRuns: 25 },
  )
})

test('W20 W25 with many texts an in-place save is found after the check interval, other changes immediately', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-words-'))
  const act = personAt(folder)
  let at = Date.now() + 3_600_000
  const texts = createTextSearch(() => at, { threshold: 1 })
  const found = async () => [...(await texts.find(folder, ids, ['login'])).keys()]
  act({ as: 'save', id: 'later', text: 'login' })
  act({ as: 'save', id: '..', text: 'page' })
  expect(await found()).toEqual(['later'])
  await sleep(15)
  act({ as: 'save', id: '..', text: 'login' })
  expect(await found()).toEqual(['later'])
  at += 50
  expect(await found()).toEqual(['later', '..'])
  await sleep(15)
  act({ as: 'replace', id: 'later', text: 'pages' })
  expect(await found()).toEqual(['..'])
  await sleep(15)
  act({ as: 'remove', id: '..' })
  expect(await found()).toEqual([])
  rmSync(folder, { recursive: true })
})
