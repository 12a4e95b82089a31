import type { QueryKey } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { Entry } from './entry.ts'
import { live } from './live.ts'
import { queryClient } from './queries.ts'

const gather = 150
/** Reads are recorded as entries too, so frequent changes are polled at this interval. */
const usualRest = 750

/** Calls back after relevant entries, debounced and at most once per interval (C10). */
export function useEntries(
  matters: (entry: Entry) => boolean,
  act: () => void,
  rest = usualRest,
): void {
  const isOurs = useEffectEvent(matters)
  const onCome = useEffectEvent(act)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = -Infinity
    const stop = live.onEntries((entries) => {
      if (timer !== undefined || !entries.some((entry) => isOurs(entry))) return
      const wait = Math.max(gather, last + rest - performance.now())
      timer = setTimeout(() => {
        timer = undefined
        last = performance.now()
        onCome()
      }, wait)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [rest])
}

export const useRefetch = (
  matters: (entry: Entry) => boolean,
  { queryKey }: { readonly queryKey: QueryKey },
  rest?: number,
): void => useEntries(matters, () => void queryClient.invalidateQueries({ queryKey }), rest)
