import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { FoundFile, SkippedFiles } from '../search.ts'
import type { Files } from '../service.ts'
import { cursor, fitting, limit, more, readsPath, shown, time } from './words.ts'
import { fileResults } from '../wire.ts'
import type { SearchHit } from '../wire.ts'

/** Fewer than of a list, since a hit has a line of text with it. */
const usualHits = 50

export const searchTool = (files: Files): Tool =>
  defineTool({
    name: 'search_files',
    title: 'Search files',
    core: true,
    description:
      'Find files by name (default) or by their text. search_type: filename (text or glob), content, or regex (RE2; (?i) ignores case).',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({
      query: z.string().min(1).max(1000),
      path: z.string().optional().describe('Search only there'),
      search_in: z.enum(['workspace', 'granted', 'all']).default('workspace'),
      search_type: z.enum(['filename', 'content', 'regex']).default('filename'),
      file_types: z.array(z.string()).max(50).default([]).describe('Such as .md'),
      cursor,
      limit,
    }),
    output: fileResults.search_files,
    // Which grants those are is known when it runs.
    touches: ({ path, search_in }) =>
      path === undefined && search_in === 'granted'
        ? { domain: 'files', data: { area: 'granted' } }
        : files.places.touch(path ?? ''),
    paths: ({ path }) => (path === undefined ? [] : readsPath({ path })),
    async read({ limit: most, search_type: by, ...input }, call) {
      const resultOf = resultBy(by === 'filename' ? by : 'content')
      const found = await files.reading.search(call, {
        query: input.query,
        path: input.path,
        where: input.search_in,
        by,
        types: input.file_types,
        after: input.cursor,
        limit: most ?? usualHits,
        fitting: (hits) => fitting(hits.map(resultOf), undefined, most !== undefined).length,
      })
      const results = found.hits.map(resultOf)
      call.tell({ data: { results: results.length } })
      return {
        results,
        total_count: found.total,
        ...(found.skipped.length > 0 && { skipped: found.skipped.map(skippedText) }),
        ...(found.next !== undefined && { next_cursor: found.next }),
      }
    },
    textOnly: true,
    text: ({ results, total_count, skipped: left = [], next_cursor: next }) =>
      [
        `${total_count} found`,
        ...left,
        ...results.map(({ path: at, line, snippet = '' }) =>
          line === undefined ? shown(at) : `${shown(at)}:${line}: ${shown(snippet)}`,
        ),
        ...more(next),
      ].join('\n'),
  })

const resultBy =
  (match_type: string) =>
  ({ path, modifiedAt, line, snippet }: FoundFile): SearchHit => ({
    path,
    match_type,
    modified_at: time(modifiedAt),
    ...(line !== undefined && { line }),
    ...(snippet !== undefined && { snippet }),
  })

const reasons: Readonly<Record<SkippedFiles['why'], string>> = {
  document: 'each has to be read by itself',
  no_grant: 'its grant ended meanwhile',
  sensitive: 'secret by name',
  too_large: 'too large',
  unreadable: 'not to be read',
}

/** For agents and people alike; as a sentence it takes least of the schema (FT9). */
function skippedText({ why, count, paths }: SkippedFiles): string {
  const what = why === 'document' ? 'document' : why === 'no_grant' ? 'place' : 'file'
  const subject = count === 1 ? `1 ${what} was` : `${count} ${what}s were`
  const others = count - paths.length
  const named = paths.map(shown).join(', ') + (others > 0 ? ` and ${others} more` : '')
  return `${subject} not searched (${reasons[why]}): ${named}`
}
