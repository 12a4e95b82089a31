import { createContext, use } from 'react'
import { getRouteApi } from '@tanstack/react-router'
import type { WorkView } from './view.ts'

export type WorkContext = {
  readonly project: string
  /** Viewers look only. */
  readonly mayChange: boolean
}

export const Work = createContext<WorkContext>({ project: '', mayChange: false })

/** The project that is shown, and whether this person may change it. */
export const useWork = (): WorkContext => use(Work)

const route = getRouteApi('/work')
export const useView = (): WorkView => route.useSearch()
