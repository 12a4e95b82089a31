import type { QueryKey } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { Entry } from './entry.ts'
import { live } from './live.ts'
import { queryClient } from './queries.ts'

const debounceMs = 150
/** Reads are recorded as entries too, so frequent changes are polled at this interval. */
const defaultIntervalMs = 750

/** Calls back after relevant entries, debounced and at most once per interval (C10). */
export function useEntries(
  isRelevant: (entry: Entry) => boolean,
  onChange: () => void,
  rest = defaultIntervalMs,
): void {
  const isRelevantEntry = useEffectEvent(isRelevant)
  const notify = useEffectEvent(onChange)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = -Infinity
    const stop = live.onEntries((entries) => {
      if (timer !== undefined || !entries.some((entry) => isRelevantEntry(entry))) return
      const delayMs = Math.max(debounceMs, last + rest - performance.now())
      timer = setTimeout(() => {
        timer = undefined
        last = performance.now()
        notify()
      }, delayMs)
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
