import { CatchBoundary, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Suspense, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { closeDialog, dialogs, openDialog } from './dialog.ts'
import { useKeys } from '../shared/use-keys.ts'
import { lazyScreen } from './lazy-screen.ts'
import { useCanAct } from '../settings/person.ts'
import { screens } from '../screens.ts'
import { Announcer } from './Announcer.tsx'
import { Dialog } from '../shared/Dialog.tsx'
import { HaltBanner, HaltDialog } from './Halt.tsx'
import { UndoBar, Toasts } from './Toasts.tsx'
import { Rail } from './Rail.tsx'
import { ScreenError } from './ScreenError.tsx'
import { ShortcutsDialog } from './ShortcutList.tsx'
import { StepUp } from './StepUp.tsx'
import { TopBar } from './TopBar.tsx'

const Palette = lazyScreen(() => import('./Palette.tsx'), 'Palette')

export function Shell() {
  const { pathname } = useLocation()
  const screen = screens.find(({ to }) => pathname.startsWith(to))
  const title = screen?.title ?? (pathname === '/welcome' ? 'Setup' : 'cowork')
  const mayHalt = useCanAct()
  const main = useFocusOnChange(screen?.to)
  useShellKeys()
  useEffect(() => {
    document.title = screen ? `${title} · cowork` : title
  }, [screen, title])
  return (
    <div className="grid h-dvh grid-cols-[208px_minmax(0,1fr)] grid-rows-[auto_48px_minmax(0,1fr)] max-md:grid-cols-1 max-md:grid-rows-[auto_48px_minmax(0,1fr)_auto]">
      <a
        href="#main"
        className="fixed top-2 left-2 z-30 -translate-y-16 rounded bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <Rail mayHalt={mayHalt} />
      <HaltBanner mayResume={mayHalt} />
      <TopBar title={title} mayHalt={mayHalt} />
      <main id="main" ref={main} tabIndex={-1} className="row-start-3 min-h-0 min-w-0 outline-none">
        <Outlet />
      </main>
      <ShellDialog />
      <StepUp />
      <Toasts>
        <UndoBar />
      </Toasts>
      <Announcer />
    </div>
  )
}

function ShellDialog() {
  const name = useSyncExternalStore(dialogs.subscribe, dialogs.get)
  if (name === 'halt') return <HaltDialog onClose={closeDialog} />
  if (name === 'shortcuts') return <ShortcutsDialog onClose={closeDialog} />
  return name === 'palette' ? (
    <CatchBoundary getResetKey={() => name} errorComponent={PaletteError}>
      <Suspense>
        <Palette onClose={closeDialog} />
      </Suspense>
    </CatchBoundary>
  ) : null
}

const PaletteError = (trouble: { error: unknown; reset: () => void }) => (
  <Dialog title="Search or jump to" onClose={closeDialog}>
    <ScreenError {...trouble} />
  </Dialog>
)

function useShellKeys() {
  const navigate = useNavigate()
  useKeys(
    {
      'mod+k': () => openDialog('palette'),
      '/': () => openDialog('palette'),
      '?': () => openDialog('shortcuts'),
      ...Object.fromEntries(
        screens.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })]),
      ),
    },
    'everywhere',
  )
}

/** Focuses the main region when the screen changes. */
function useFocusOnChange(screen: string | undefined) {
  const ref = useRef<HTMLElement>(null)
  const before = useRef(screen)
  useLayoutEffect(() => {
    if (before.current !== screen) ref.current?.focus()
    before.current = screen
  }, [screen])
  return ref
}
