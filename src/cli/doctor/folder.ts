import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The folder itself, or the nearest above it that there is. */
export function thereOf(folder: string): string {
  let there = folder
  while (!existsSync(there)) there = dirname(there)
  return there
}

/** Why a folder cannot be used, be it there or to be made; nothing where it can. */
export function troubleWith(folder: string): string | undefined {
  const there = thereOf(folder)
  if (!statSync(there).isDirectory()) return `${there} is not a folder`
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${folder} cannot be ${there === folder ? 'written' : 'made'} by this account`
  }
}
