import { sep } from 'node:path'

/** Whether it names one entry of a folder, and cannot lead anywhere else. */
export const isOneName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !name.includes(sep)
