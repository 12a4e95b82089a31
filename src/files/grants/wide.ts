import { isWithin } from '../rules/paths.ts'
import type { Seen } from './pin.ts'

const wholes = new Map([
  ['~', 'your whole home'],
  ['/', 'the whole disk'],
])

/** What is asked for, where it is everything. */
export const wholeName = (path: string, home: string): string | undefined =>
  wholes.get(path === home ? '~' : path)

export type Looked = Seen & { readonly warning?: string }

/**
 * The home is opened by whoever asks for it, and not as the folder around something: a name that is mistyped would
 * offer all of it.
 */
export function notTheHome(seen: Seen, home: string): Looked {
  const { pin, real, folderPin } = seen
  const isWide = (folder: string) => isWithin(home, folder)
  const warning = isWide(real) && {
    warning: `${wideText(real, home)}: what agents read there they know, whatever is closed later.`,
  }
  const isAround = pin?.kind !== 'folder' && folderPin !== null && isWide(folderPin.path)
  return { ...seen, ...(isAround && { folderPin: null }), ...warning }
}

function wideText(real: string, home: string): string {
  if (real === home) return 'This is your whole home'
  return real === '/' ? 'This is the whole disk, your home with it' : 'This holds your whole home'
}
