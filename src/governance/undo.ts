import type { Reader } from '#base/db/port.ts'
import type { Entry, Lookup } from '#ledger'

/** How what a call did can be taken back; the domain of the tool knows it. */
export type Undo = {
  readonly find: (reader: Reader, done: Entry) => Promise<UndoCall | undefined>
  readonly isDone: (reader: Reader, done: Entry) => Promise<boolean>
}

type UndoCall = {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly text: string
}

export type IsUndone = ReturnType<typeof createIsUndone>

export const createIsUndone =
  (lookup: Pick<Lookup, 'call'>, undo: Pick<Undo, 'isDone'> | undefined) =>
  async (reader: Reader, call: string): Promise<boolean> => {
    if (!undo) return false
    const done = (await lookup.call(reader, call)).find(({ type }) => type === 'call.done')
    return done !== undefined && undo.isDone(reader, done)
  }
