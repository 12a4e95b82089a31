import fs from 'node:fs'
import type { Confined, Parent } from '../confine/types.ts'
import { below, entriesOf } from './folders.ts'
import type { Entry } from './folders.ts'

/** A name in a folder that is held open. */
export type End = { readonly confined: Confined; readonly parent: Parent }

/** All that is in a folder, each with the open folder it lies in and its path. */
export async function eachInside(
  turn: () => Promise<void>,
  { confined, parent }: End,
  visit: (fd: number, entry: Entry, path: string) => void,
): Promise<void> {
  const within = async (
    fd: number,
    { name, bytes }: Pick<Entry, 'name' | 'bytes'>,
    real: string,
  ): Promise<void> => {
    const folder = confined.openChild(fd, name, real, bytes)
    try {
      for (const entry of entriesOf(confined, folder)) {
        const path = below(real, entry.name)
        visit(folder, entry, path)
        if (entry.isDirectory()) await within(folder, entry, path)
      }
      await turn()
    } finally {
      fs.closeSync(folder)
    }
  }
  await within(parent.fd, parent, parent.real)
}
