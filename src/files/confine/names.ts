import { sep } from 'node:path'

/** Whether it names one entry of a folder, and cannot lead anywhere else. */
export const isSingleSegment = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !name.includes(sep)

/** A name that is no UTF-8 is shown with this sign in it, and not found by that. */
export const hasReplacementCharacter = (name: string): boolean => name.includes('\ufffd')
