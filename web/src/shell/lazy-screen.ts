import { lazyRouteComponent } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'

type Late = { preload?: () => Promise<void> | undefined }

const late: Late[] = []

/**
 * A screen that comes when it is gone to. Where it does not come, that is an error of this screen: the router by
 * itself would load the whole page again, which ends on the browser's own error while the daemon is away.
 */
export const lazyScreen: typeof lazyRouteComponent = (load, name) => {
  const screen = lazyRouteComponent(() => load().catch(refuse), name)
  late.push(screen as Late)
  return screen
}

const code = 'not_loaded'

function refuse(): never {
  throw new ApiError({
    code,
    message: 'Cannot load this screen.',
    hint: 'Start cowork with `cowork up -d`. This page reconnects automatically.',
  })
}

export const isChunkLoadError = (error: unknown): boolean =>
  error instanceof ApiError && error.code === code

/** Loads what is missing. Where the daemon answers and has it no more, it is a newer one: so is its page. */
export async function loadMissingChunks(): Promise<void> {
  if ((await loadAll()) || !(await isAnswering())) return
  location.reload()
}

/** Ends with the first that does not come: the others would not either. */
async function loadAll(between: () => Promise<void> = async () => {}): Promise<boolean> {
  for (const screen of late) {
    if (!isMissing(screen)) continue
    await between()
    await screen.preload?.()
    if (isMissing(screen)) return false
  }
  return true
}

/** The router takes away what loads a screen once it is there. */
const isMissing = ({ preload }: Late) => preload !== undefined

async function isAnswering(): Promise<boolean> {
  try {
    return (await fetch('/', { method: 'HEAD', cache: 'no-store' })).ok
  } catch {
    return false
  }
}

const look = 500
/** As long a rest as makes it likely that a person reads. */
const looksAtRest = 8

/** Loads all screens once the first one has been there for a while, so that none is missing when the daemon is. */
export function startPreloading(isBusy: () => boolean): void {
  if (savesData()) return
  let atRest = 0
  const timer = setInterval(() => {
    atRest = isBusy() ? 0 : atRest + 1
    if (atRest < looksAtRest) return
    clearInterval(timer)
    void loadAll(idle)
  }, look)
}

const savesData = () =>
  'connection' in navigator && Reflect.get(Object(navigator.connection), 'saveData') === true

const idle = () =>
  new Promise<void>((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 2000 })
    else setTimeout(resolve, 50)
  })
