import { isDeepStrictEqual } from 'node:util'
import { CoworkError } from '#base/errors.ts'
import type { Client } from './client-registry.ts'
import { getJsonValue, setJsonValue, removeJsonValue } from './json.ts'
import type { Made as JsonMade, Place } from './json.ts'
import { applySplices } from './client-file.ts'
import type { Source, Splice } from './client-file.ts'
import { setTomlTable, removeTomlTable, getTomlTable } from './toml.ts'
import type { Made as TomlMade, Table } from './toml.ts'

export type Edit = { readonly place: Place; readonly value: unknown }

export type EditUndo = JsonMade | TomlMade

export type Hunk = { readonly line: number; readonly removed: string; readonly inserted: string }

type EditResult = { readonly text: string; readonly hunks: readonly Hunk[] }

type Format = {
  readonly at: (source: Source, place: Place) => unknown
  readonly put: (
    source: Source,
    edit: Edit,
  ) => { splices: readonly Splice[]; made?: EditUndo } | undefined
  readonly take: (source: Source, place: Place, made?: EditUndo) => readonly Splice[] | undefined
}

const formats: Readonly<Record<Client['format'], Format>> = {
  json: {
    at: getJsonValue,
    put: (source, { place, value }) => setJsonValue(source, place, value),
    take: (source, place, made) =>
      removeJsonValue(source, place, made && 'depth' in made ? made : undefined),
  },
  toml: {
    at: (source, place) => getTomlTable(source, place.map(String)),
    // The edits of a client match the format of its file.
    put: (source, { place, value }) => setTomlTable(source, place.map(String), value as Table),
    take: (source, place, made) =>
      removeTomlTable(source, place.map(String), made && 'gap' in made ? made : undefined),
  },
}

export const getValue = (format: Client['format'], source: Source, place: Place): unknown =>
  formats[format].at(source, place)

/** Applies the edits; returns the text and the undo data of each edit. */
export function applyEdits(
  format: Client['format'],
  source: Source,
  edits: readonly Edit[],
): EditResult & { made: (EditUndo | undefined)[] } {
  const { put, at } = formats[format]
  const hunks: Hunk[] = []
  const made: (EditUndo | undefined)[] = []
  let { text } = source
  for (const edit of edits) {
    const change = put({ ...source, text }, edit)
    made.push(change?.made)
    if (!change) continue
    hunks.push(...toHunks(text, change.splices))
    text = applySplices(text, change.splices)
  }
  for (const { place, value } of edits)
    if (!isDeepStrictEqual(readBack(at, { ...source, text }, place), value))
      throw unsafeEditError(source)
  return { text, hunks, made }
}

/** Removes the entries, newest first; skips places without one. */
export function revertEdits(
  format: Client['format'],
  source: Source,
  places: readonly { readonly place: Place; readonly made?: EditUndo | undefined }[],
): EditResult {
  const { take, at } = formats[format]
  const hunks: Hunk[] = []
  let { text } = source
  for (const { place, made } of places.toReversed()) {
    const splices = take({ ...source, text }, place, made)
    if (!splices) continue
    hunks.push(...toHunks(text, splices))
    text = applySplices(text, splices)
    if (readBack(at, { ...source, text }, place) !== undefined) throw unsafeEditError(source)
  }
  return { text, hunks }
}

/** Reads a value back: nothing is written that cannot be read. */
function readBack(at: Format['at'], source: Source, place: Place): unknown {
  try {
    return at(source, place)
  } catch (cause) {
    throw unsafeEditError(source, cause)
  }
}

const unsafeEditError = ({ file }: Source, cause?: unknown) =>
  new CoworkError('client_config_broken', `Cannot change ${file} safely.`, {
    hint: 'Add or remove the entry `cowork` manually. The file was not changed.',
    cause,
  })

const toHunks = (text: string, splices: readonly Splice[]): Hunk[] =>
  splices
    .filter(({ removed, inserted }) => (removed + inserted).trim().length > 1)
    .map(({ at, removed, inserted }) => ({
      line: text.slice(0, at).split('\n').length + (/^\r?\n/.test(removed || inserted) ? 1 : 0),
      removed: maskTokens(removed),
      inserted: maskTokens(inserted),
    }))

const maskTokens = (text: string) => text.replaceAll(/sk-cowork-[0-9a-f]+/g, 'sk-cowork-…')
