/** Looks at entries of a folder from the last one on, while the worker's own thread does so from the first. */
import { parentPort } from 'node:worker_threads'
import { seenAt } from './folders.ts'
import type { Seen } from './folders.ts'
import { piecesIn } from './stats-memory.ts'

/** Names in the working directory; an empty one is left to who asks. */
export type Question = { readonly names: string; readonly memory: SharedArrayBuffer }

/** Between names: none of them holds it. */
export const separator = '/'

function answer({ names, memory }: Question): void {
  const pieces = piecesIn(memory)
  // Who asked may have gone on by now, and be in another folder.
  if (!pieces.take()) return
  const entries = names.split(separator)
  let end = entries.length
  for (let taken = 1; ; taken++) {
    const begin = pieces.beginOf(taken)
    for (let at = begin; at < end; at++) {
      const seen = seenIfAny(entries[at])
      if (seen) pieces.write(at, seen)
    }
    pieces.finish()
    end = begin
    if (!pieces.take()) return
  }
}

/** Who asked looks once more at all else, and finds what is wrong with it. */
function seenIfAny(name: string | undefined): Seen | undefined {
  try {
    return name ? seenAt(name) : undefined
  } catch {
    return undefined
  }
}

parentPort?.on('message', answer)
