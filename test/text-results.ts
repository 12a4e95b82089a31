// Reads the results of tools that answer with text alone, as a model does (SV19).
import type { Said } from './speakers.ts'

const cursorIn = (text: string): Said => {
  const [, quoted] = /"cursor": (".*")\]$/.exec(text) ?? []
  return quoted === undefined ? {} : { next_cursor: JSON.parse(quoted) as unknown }
}

const lines = (text: string) => text.split('\n').filter((line) => !line.startsWith('['))

const readers: Readonly<Record<string, (text: string) => Said>> = {
  list_files: (text) => ({
    files: lines(text)
      .slice(1)
      .map((line) => ({ name: line.replace(/\t\d+$|@$/, '') })),
    ...cursorIn(text),
  }),
  file_tree: (text) => ({ tree: lines(text).slice(1).join('\n'), ...cursorIn(text) }),
  search_files: (text) => ({
    total_count: Number(/^\d+/.exec(text)?.[0]),
    results: lines(text)
      .slice(1)
      .map((line) => ({ path: line.replace(/:\d+: .*$/, '') })),
    ...cursorIn(text),
  }),
  update_file: (text) => ({ backup_path: /Backup: (.*)\.(?: |\n|$)/.exec(text)?.[1] }),
}

/** The fields of a text, as far as tests ask for them. */
export const readText = (tool: string, text: string): Said => readers[tool]?.(text) ?? {}

/** The content of a file in the text of read_file, whose notes stand below it. */
export function extractContent(text: string): string {
  const [, notes = ''] = /(?:^|\n)(\[[^\n]*\](?:\n\[[^\n]*\])*)$/.exec(text) ?? []
  const content = text.slice(0, text.length - notes.length)
  return notes.includes('no newline at the end') ? content.slice(0, -1) : content
}
