import type { Call } from '#base/tool.ts'

/** Reads of files whose path an agent or the registry can name; the module of files guards them (PV4). */
export type GuardedFiles = {
  /** Reads a text below a folder that a person named. */
  read(folder: string, path: string, maxBytes: number): Promise<string>
  /** Reads a text by the caller's own right: in the workspace, or under a grant. */
  readAs(
    call: Pick<Call, 'caller' | 'signal' | 'addDetails'>,
    path: string,
    maxBytes: number,
  ): Promise<string>
  /** Throws where cowork may not write for agents. */
  checkWritable(folder: string): void
  isProtected(path: string): boolean
  /** Closes every folder but these. */
  keep(folders: readonly string[]): Promise<void>
}
