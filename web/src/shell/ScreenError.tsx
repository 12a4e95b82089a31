import { useEffect, useEffectEvent } from 'react'
import { isChunkLoadError, loadMissingChunks } from './lazy-screen.ts'
import { live } from '../api/live.ts'
import { ErrorState } from '../shared/States.tsx'

type Props = { error: unknown; reset: () => void }

/** Replaces a screen that failed. A chunk that failed to load is retried when the daemon reconnects. */
export function ScreenError({ error, reset }: Props) {
  const isMissing = isChunkLoadError(error)
  const retry = () => void (isMissing ? loadMissingChunks().then(reset) : reset())
  const onLive = useEffectEvent(retry)
  useEffect(() => {
    if (!isMissing) return
    return live.state.subscribe(() => {
      if (live.state.get() === 'live') onLive()
    })
  }, [isMissing])
  return <ErrorState error={error} retry={retry} />
}
