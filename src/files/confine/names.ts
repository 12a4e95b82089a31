import { sep } from 'node:path'

/** Returns true if the name is one entry of a folder and cannot lead anywhere else. */
export const isSingleSegment = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !name.includes(sep)

/** An invalid UTF-8 name is shown with this character, and a lookup by the shown name fails. */
export const hasReplacementCharacter = (name: string): boolean => name.includes('\ufffd')
