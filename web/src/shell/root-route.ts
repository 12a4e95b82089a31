import { createRootRoute } from '@tanstack/react-router'

/** The parent of every screen. The router adds its component, because screens cannot import the shell. */
export const rootRoute = createRootRoute()
