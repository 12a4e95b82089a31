import { createContext, use } from 'react'
import { getRouteApi } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import type { WorkView } from './view.ts'
import { meQuery } from '../api/queries.ts'
import { fileEditorId } from './text.ts'

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

/** How those who did something are called here; ids of people are made of their names. */
export function useActorName(): (id: string) => string {
  const me = useQuery(meQuery).data?.person.id
  return (id) => (id === fileEditorId ? 'an edit of the file' : id === me ? 'you' : id)
}
