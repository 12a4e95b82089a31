import type { ToolName, ToolResults } from '#wire'
import type { Client } from './client.ts'

/** The tools that answer page by page: the rest comes by the cursor. */
type PagedTool = {
  [Name in ToolName]: 'next_cursor' extends keyof ToolResults[Name] ? Name : never
}[ToolName]

/** The schema of `worksync_get` leaves the cursor open. */
type Paged = { readonly next_cursor?: string }

/** Calls a tool for as many items as asked for, over as many pages as that takes. */
export async function pages<Name extends PagedTool, One>(
  client: Client,
  tool: Name,
  input: object,
  of: (page: ToolResults[Name]) => readonly One[],
  most = Infinity,
): Promise<{ readonly all: One[]; readonly isMore: boolean; readonly last: ToolResults[Name] }> {
  const all: One[] = []
  for (let cursor: string | undefined; ;) {
    const last: ToolResults[Name] = await client.call(tool, { ...input, cursor })
    all.push(...of(last))
    cursor = (last as Paged).next_cursor
    if (cursor === undefined || all.length >= most)
      return { all: all.slice(0, most), isMore: cursor !== undefined || all.length > most, last }
  }
}
