import { createRootRoute } from '@tanstack/react-router'

/** The parent of every screen. The router adds its component: the shell knows the screens, so they cannot import it. */
export const rootRoute = createRootRoute()
