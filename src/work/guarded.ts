import type { Call } from '#base/tool.ts'

/** Reads files at paths that an agent or the registry names; the files module guards them (PV4). */
export type GuardedFiles = {
  /** Reads a text file below a folder that a person registered. */
  read(folder: string, path: string, maxBytes: number): Promise<string>
  /** Reads a text file with the access of the caller: in the workspace or under a grant. */
  readAs(
    call: Pick<Call, 'caller' | 'signal' | 'addDetails'>,
    path: string,
    maxBytes: number,
  ): Promise<string>
  /** Throws if cowork must not write to the folder for agents. */
  checkWritable(folder: string): void
  isProtected(path: string): boolean
  /** Closes all opened folders except these. */
  keep(folders: readonly string[]): Promise<void>
}
