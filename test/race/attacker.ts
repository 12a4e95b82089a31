// Swaps one name in a folder between what belongs there and a link that leads out, as fast as it can.
//   node attacker.ts <parent | leaf | link> <folder> <outside>
import fs from 'node:fs'
import { join } from 'node:path'

const [kind, folder = '', outside = ''] = process.argv.slice(2)
const at = (name: string) => join(folder, name)

/** A folder cannot be replaced in one step: for a moment the name is missing, and a writer may make one. */
function move(from: string, to: string): void {
  while (fails(() => fs.renameSync(at(from), at(to))))
    fails(() => fs.rmSync(at(to), { recursive: true, force: true }))
}

function fails(act: () => void): boolean {
  try {
    act()
    return false
  } catch {
    return true
  }
}

function swapParent(): void {
  move('dir', 'dir-real')
  move('dir-link', 'dir')
  move('dir', 'dir-link')
  move('dir-real', 'dir')
}

function put(make: (path: string) => void): void {
  make(at('next'))
  fs.renameSync(at('next'), at('file.txt'))
}

function swapLeaf(): void {
  put((path) => fs.symlinkSync(join(outside, 'file.txt'), path))
  put((path) => fs.linkSync(at('real.txt'), path))
}

function swapLink(): void {
  put((path) => fs.symlinkSync(join(outside, 'file.txt'), path))
  put((path) => fs.symlinkSync('real.txt', path))
}

const swaps = { parent: swapParent, leaf: swapLeaf, link: swapLink }
const swap = swaps[kind as keyof typeof swaps]
process.stdout.write('ready\n')
const parent = process.ppid
// Whoever started it may have been killed, and nobody else would end it.
while (process.ppid === parent) for (let n = 0; n < 1000; n++) swap()
