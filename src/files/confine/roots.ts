import fs from 'node:fs'
import type { FileFaultCode } from '../model.ts'
import { createGuard } from '../rules/guard.ts'
import type { Inode, Root, WorkerSetup } from '../worker/protocol.ts'
import { confinedTo } from './confined.ts'
import { faultOf, FileFault } from './fault.ts'
import { pin, replaced } from './pinned.ts'
import { portableTo } from './portable.ts'
import type { Confined, Roots } from './types.ts'

type Open = {
  confined(closed?: readonly string[], denied?: readonly Inode[]): Confined
  close(): void
}

/** Pins every root. One that is not there, or not what it was, is missing; the others work. */
export function openRoots(
  { roots, guard: settings }: WorkerSetup,
  containment: Roots['containment'] = process.platform === 'linux' ? 'walk' : 'checked',
): Roots {
  const guard = createGuard(settings)
  const opened = new Map<string, Open>()
  const missing = new Map<string, FileFaultCode>()

  const open = (root: Root): Open => {
    if (containment === 'checked') return { confined: portableTo(root, guard), close() {} }
    const pinned = pin(root)
    // As most callers have it: made once, not for each of their calls.
    const whole = confinedTo(root, pinned, guard)
    return {
      confined: (closed = [], denied = []) =>
        closed.length + denied.length === 0
          ? whole
          : confinedTo(root, pinned, guard, closed, denied),
      close: () => fs.closeSync(pinned.fd),
    }
  }
  for (const root of roots)
    try {
      opened.set(root.key, open(root))
    } catch (error) {
      missing.set(root.key, faultOf(error).code)
    }

  return {
    containment,
    missing: [...missing].map(([key, code]) => ({ key, code })),
    get(key, closed, denied) {
      const code = missing.get(key)
      if (code === 'root_replaced') throw replaced()
      if (code !== undefined) throw new FileFault(code, 'What was granted cannot be opened.')
      const found = opened.get(key)
      if (!found) throw new FileFault('no_grant', 'No access. Call request_grant() first.')
      return found.confined(closed, denied)
    },
    close() {
      for (const { close } of opened.values()) close()
      opened.clear()
    },
  }
}
