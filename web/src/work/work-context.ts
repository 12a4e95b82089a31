import { createContext, use } from 'react'
import { getRouteApi } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import type { WorkView } from './view.ts'
import { meQuery } from '../api/queries.ts'
import { fileEditorId } from './text.ts'

export type WorkContext = {
  readonly project: string
  /** False for viewers. */
  readonly mayChange: boolean
}

export const Work = createContext<WorkContext>({ project: '', mayChange: false })

/** Returns the shown project and whether the person can change it. */
export const useWork = (): WorkContext => use(Work)

const route = getRouteApi('/work')
export const useView = (): WorkView => route.useSearch()

/** Returns a formatter of author ids; ids of people derive from their names. */
export function useActorName(): (id: string) => string {
  const me = useQuery(meQuery).data?.person.id
  return (id) => (id === fileEditorId ? 'file edit' : id === me ? 'you' : id)
}
