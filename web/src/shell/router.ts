import { createRouter } from '@tanstack/react-router'
import { parseSearch, stringifySearch } from '../audit/filter.ts'
import { screens } from '../screens.ts'
import { homeRoute, welcomeRoute } from '../setup/routes.ts'
import { NotFound } from './NotFound.tsx'
import { Root } from './Root.tsx'
import { rootRoute } from './root-route.ts'
import type { Screen } from './screen.ts'
import { ScreenError } from './ScreenError.tsx'

type ScreenRoutes<Screens extends readonly Screen[]> = {
  readonly [At in keyof Screens]: Screens[At]['routes']
}
// `map` loses the tuple type, from which the link types are derived.
const screenRoutes = screens.map(({ routes }) => routes) as unknown as ScreenRoutes<typeof screens>

rootRoute.update({ component: Root, notFoundComponent: NotFound })

export const router = createRouter({
  routeTree: rootRoute.addChildren([homeRoute, welcomeRoute, ...screenRoutes]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** Keys moved the selection: the focus stays in the list. */
    keepFocus?: boolean
    /** The row of the file list to focus; the first row if it does not exist. */
    row?: string
  }
}
