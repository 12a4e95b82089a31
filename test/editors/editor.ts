// Simulates a person with an editor: loads the file, waits, saves. `node editor.ts <path> <style> <edits> <seed>`; prints
// a line of JSON per saved edit. Works on the text only, as people do.
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../seeded.ts'

export const styles = ['in_place', 'rename', 'held'] as const
export type Style = (typeof styles)[number]

/** One saved edit: what it wrote, over what; or that it deleted the story whose estimate was `seen`. */
export type Edit =
  | { readonly act: 'field' | 'path' | 'story'; readonly id: string; readonly marker: string }
  | {
      readonly act: 'notes'
      readonly id: string
      readonly marker: string
      readonly over: string
    }
  | { readonly act: 'delete'; readonly id: string; readonly seen: number }

const between = (random: () => number, least: number, most: number) =>
  least + Math.floor(random() * (most - least + 1))

/** The lines of one story. */
const blockOf = (text: string, id: string): string | undefined =>
  new RegExp(`^ {6}- id: ${id}\\n(?: {8}.*\\n|\\n)*`, 'm').exec(text)?.[0]

/** Returns the text with the edit, or undefined if it does not fit at present. */
function edited(text: string, random: () => number, n: number): [string, Edit] | undefined {
  const id = `s-${between(random, 1, 5)}`
  const block = blockOf(text, id)
  const marker = `hand-${n}`
  const put = (next: string) => text.replace(block ?? '', () => next)
  const chance = random()
  if (chance < 0.1) {
    const gone = `d-${between(random, 1, 6)}`
    const lines = blockOf(text, gone)
    if (lines === undefined) return undefined
    const seen = Number(/estimate: (\d+)/.exec(lines)?.[1] ?? 0)
    return [text.replace(lines, ''), { act: 'delete', id: gone, seen }]
  }
  if (block === undefined) return undefined
  if (chance < 0.2) {
    const added = `      - id: ${marker}\n        title: By hand\n        status: planned\n`
    return [put(block + added), { act: 'story', id: marker, marker }]
  }
  if (chance < 0.45) {
    const [, over] = /^ {8}notes: (\S+)/m.exec(block) ?? []
    if (over === undefined) return undefined
    const next = block.replace(/^( {8}notes:).*$/m, `$1 ${marker}  # mine`)
    return [put(next), { act: 'notes', id, marker, over }]
  }
  if (chance < 0.65) {
    const next = block.replace(/^( {8}paths: \[.*)\]$/m, `$1, ${marker}]`)
    return next === block ? undefined : [put(next), { act: 'path', id, marker }]
  }
  return [put(`${block}        x_${marker}: ${marker}\n`), { act: 'field', id, marker }]
}

const saves: Record<Style, (path: string, held: number, text: string) => void> = {
  in_place: (path, _, text) => writeFileSync(path, text),
  rename(path, _, text) {
    writeFileSync(`${path}.swp`, text)
    renameSync(`${path}.swp`, path)
  },
  held(_, held, text) {
    ftruncateSync(held)
    writeSync(held, text, 0)
    fsyncSync(held)
  },
}

async function edit(path: string, style: Style, edits: number, seed: number): Promise<void> {
  const random = seeded(seed)
  for (let n = 1; n <= edits; n++) {
    const held = openSync(path, 'r+')
    const text = readFileSync(held, 'utf8')
    await sleep(between(random, 0, 150))
    const made = edited(text, random, n)
    if (made) {
      saves[style](path, held, made[0])
      process.stdout.write(`${JSON.stringify(made[1])}\n`)
    }
    closeSync(held)
    await sleep(between(random, 0, 60))
  }
}

if (import.meta.main) {
  const [path = '', style = '', edits = '', seed = ''] = process.argv.slice(2)
  await edit(path, style as Style, Number(edits), Number(seed))
}
