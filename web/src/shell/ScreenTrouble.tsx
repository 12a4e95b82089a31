import { useEffect, useEffectEvent } from 'react'
import { isNotLoaded, loadMissing } from './late-screen.ts'
import { live } from '../api/live.ts'
import { Trouble } from '../shared/States.tsx'

type Props = { error: unknown; reset: () => void }

/** In the place of a screen that broke, or never came; that one comes by itself when the daemon is back. */
export function ScreenTrouble({ error, reset }: Props) {
  const isMissing = isNotLoaded(error)
  const retry = () => void (isMissing ? loadMissing().then(reset) : reset())
  const onLive = useEffectEvent(retry)
  useEffect(() => {
    if (!isMissing) return
    return live.state.subscribe(() => {
      if (live.state.get() === 'live') onLive()
    })
  }, [isMissing])
  return <Trouble error={error} retry={retry} />
}
