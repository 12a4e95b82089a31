import { closeSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

const largest = 10 * 1024 * 1024
const kept = 5

/** For a program that is handed the file as its stderr: appended to, never cut. */
export function openLogFile(path: string): number {
  rotate(path, largest)
  return openSync(path, 'a', 0o600)
}

/** The daemon's log: a file of at most 10 MB, and the five before it as `.1` to `.5` (SV3). */
export function createLogFile(path: string, most = largest): (text: string) => void {
  let file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  return (text) => {
    if (size > most) {
      closeSync(file)
      rotate(path, most)
      file = openSync(path, 'a', 0o600)
      size = 0
    }
    size += writeSync(file, text)
  }
}

function rotate(path: string, most: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= most) return
  for (let age = kept; age > 0; age--) {
    const younger = age === 1 ? path : `${path}.${age - 1}`
    if (statSync(younger, { throwIfNoEntry: false })) renameSync(younger, `${path}.${age}`)
  }
}
