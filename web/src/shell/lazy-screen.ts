import { lazyRouteComponent } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'

type Late = { preload?: () => Promise<void> | undefined }

const late: Late[] = []

/**
 * Loads a screen on demand and turns a failure into an error of that screen. The router alone would reload the page,
 * which shows the error page of the browser while the daemon is unreachable.
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

/** Loads missing chunks. If the daemon is reachable but no longer has them, it is newer, so the page reloads. */
export async function loadMissingChunks(): Promise<void> {
  if ((await loadAll()) || !(await isAnswering())) return
  location.reload()
}

/** Stops at the first failure, because the other chunks would fail too. */
async function loadAll(between: () => Promise<void> = async () => {}): Promise<boolean> {
  for (const screen of late) {
    if (!isMissing(screen)) continue
    await between()
    await screen.preload?.()
    if (isMissing(screen)) return false
  }
  return true
}

/** The router removes `preload` from a loaded screen. */
const isMissing = ({ preload }: Late) => preload !== undefined

async function isAnswering(): Promise<boolean> {
  try {
    return (await fetch('/', { method: 'HEAD', cache: 'no-store' })).ok
  } catch {
    return false
  }
}

const look = 500
/** Idle polls (4 s) before preloading starts. */
const looksAtRest = 8

/** Preloads all screens after the first one is idle, so that they work while the daemon is unreachable. */
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
