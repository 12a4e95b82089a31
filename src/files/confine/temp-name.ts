/** Names of files that are still being written. */
import { newSalt } from '#base/ids.ts'

/** Uses pooled random bytes: one system call per name costs as much as creating the file. */
export const createTempName = (): string => `.cowork-${newSalt().slice(0, 24)}.tmp`

/** Temporary names are never listed or searched, and agents cannot create them. An old one is a crash leftover. */
export const isTempName = (name: string): boolean =>
  name.startsWith('.cowork-') && tempNamePattern.test(name)
const tempNamePattern = /^\.cowork-[0-9a-f]{24}\.tmp$/
