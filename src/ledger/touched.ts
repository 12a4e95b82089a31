import type { Entry } from './model.ts'

/** One of the files that a call was about (FT8). What is not said of it is as the entry says. */
export type TouchedFile = {
  readonly path: string
  /** In the workspace, or under a grant. */
  readonly area?: string
  readonly grant?: string
  /** False where this one was refused, though others were not. */
  readonly success?: boolean
  readonly code?: string
  readonly size_bytes?: number
  readonly sha256?: string
}

/** Entries stay small: of a call about more files the first are named, and how many there were. */
const mostTouched = 100

/** What an entry says of a call about several files. */
export const touchedData = (files: readonly TouchedFile[]) => ({
  files: files.slice(0, mostTouched),
  ...(files.length > mostTouched && { files_count: files.length }),
})

/** The files of an entry, where it names several or its subject is none. */
export function touchedIn({ data }: Pick<Entry, 'data'>): readonly TouchedFile[] {
  const files = data?.['files']
  return Array.isArray(files) ? files.filter(isTouched) : []
}

const isTouched = (file: unknown): file is TouchedFile =>
  typeof file === 'object' && file !== null && 'path' in file && typeof file.path === 'string'
