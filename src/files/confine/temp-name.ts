/** Files that are being written stand under names of their own until they are whole. */
import { newSalt } from '#base/ids.ts'

/** Of a pool: to ask the system for a name each time costs as much as to make the file. */
export const createTempName = (): string => `.cowork-${newSalt().slice(0, 24)}.tmp`

/** Never shown, never searched, and nobody else's to make: an old one is taken for what a crash left. */
export const isTempName = (name: string): boolean =>
  name.startsWith('.cowork-') && tempNamePattern.test(name)
const tempNamePattern = /^\.cowork-[0-9a-f]{24}\.tmp$/
