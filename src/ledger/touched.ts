import type { TouchedFile } from '#base/tool.ts'
import type { Entry } from './model.ts'

/** Entries stay small: of a call about more files the first are named, and how many there were. */
const mostTouched = 100

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
