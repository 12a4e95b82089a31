import { join } from 'node:path'
import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import type { Call } from '#base/tool.ts'
import type { Disk } from './disk.ts'
import { fileFault } from './faults.ts'
import type { Placed, Places } from './places.ts'

type Deps = { readonly disk: Pick<Disk, 'ask'>; readonly places: Pick<Places, 'place'> }

export type Arriving = ReturnType<typeof createArriving>

/** Something comes to a free place: where a folder is already, the path to give is named. */
export function createArriving({ disk, places }: Deps) {
  /** As far as the caller may know (GR9). */
  async function isFolder(call: Call, path: string): Promise<boolean> {
    try {
      const placed = await places.place(call.caller, { path, need: 'read' })
      const { stat } = await disk.ask(call, 'stat', [placed], { at: placed.at })
      return stat.type === 'folder'
    } catch (error) {
      if (error instanceof CoworkError) return false
      throw error
    }
  }

  return async function arriving<T>(
    call: Call,
    { path }: Placed,
    /** Of what comes, where it has one already. */
    name: string | undefined,
    act: () => Promise<T>,
  ): Promise<T> {
    try {
      return await act()
    } catch (error) {
      const isTaken = error instanceof CoworkError && error.code === 'exists'
      if (!isTaken || !(await isFolder(call, path))) throw error
      const next =
        name === undefined
          ? 'Give the name of the file as well.'
          : `Give ${plainText(join(path, name), 500)}.`
      throw fileFault('exists', path, error.message, `A folder is there. ${next}`)
    }
  }
}
