import { lazyRouteComponent } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'

type LazyScreen = { preload?: () => Promise<void> | undefined }

const lazyScreens: LazyScreen[] = []

/**
 * Loads a screen on demand and turns a failure into an error of that screen. The router alone would reload the page,
 * which shows the error page of the browser while the daemon is unreachable.
 */
export const lazyScreen: typeof lazyRouteComponent = (load, name) => {
  const screen = lazyRouteComponent(() => load().catch(throwChunkError), name)
  lazyScreens.push(screen as LazyScreen)
  return screen
}

const errorCode = 'not_loaded'

function throwChunkError(): never {
  throw new ApiError({
    code: errorCode,
    message: 'Cannot load this screen.',
    hint: 'Start cowork with `cowork up -d`. This page reconnects automatically.',
  })
}

export const isChunkLoadError = (error: unknown): boolean =>
  error instanceof ApiError && error.code === errorCode

/** Loads missing chunks. If the daemon is reachable but no longer has them, it is newer, so the page reloads. */
export async function loadMissingChunks(): Promise<void> {
  if ((await loadAll()) || !(await isReachable())) return
  location.reload()
}

/** Stops at the first failure, because the other chunks would fail too. */
async function loadAll(beforeEach: () => Promise<void> = async () => {}): Promise<boolean> {
  for (const screen of lazyScreens) {
    if (!isMissing(screen)) continue
    await beforeEach()
    await screen.preload?.()
    if (isMissing(screen)) return false
  }
  return true
}

/** The router removes `preload` from a loaded screen. */
const isMissing = ({ preload }: LazyScreen) => preload !== undefined

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/', { method: 'HEAD', cache: 'no-store' })).ok
  } catch {
    return false
  }
}

const pollIntervalMs = 500
/** Idle polls (4 s) before preloading starts. */
const minIdlePolls = 8

/** Preloads all screens after the first one is idle, so that they work while the daemon is unreachable. */
export function startPreloading(isBusy: () => boolean): void {
  if (isSaveDataOn()) return
  let idlePolls = 0
  const timer = setInterval(() => {
    idlePolls = isBusy() ? 0 : idlePolls + 1
    if (idlePolls < minIdlePolls) return
    clearInterval(timer)
    void loadAll(waitForIdle)
  }, pollIntervalMs)
}

const isSaveDataOn = () =>
  'connection' in navigator && Reflect.get(Object(navigator.connection), 'saveData') === true

const waitForIdle = () =>
  new Promise<void>((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 2000 })
    else setTimeout(resolve, 50)
  })
