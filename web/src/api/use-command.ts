import { useQuery } from '@tanstack/react-query'
import { meQuery } from './queries.ts'

/** The words that run `cowork` there, once they are known. They are not asked for: also those see this who may not. */
export const useCommand = (): readonly string[] | undefined =>
  useQuery({ ...meQuery, enabled: false }).data?.command
