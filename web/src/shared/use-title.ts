import { useEffect } from 'react'
import { sanitizeText } from './sanitize.ts'

/** The page is called after what is open on it, and by the screen's own name when that is closed. */
export function useTitle(open: string, screen: string): void {
  useEffect(() => {
    document.title = `${sanitizeText(open)} · cowork`
    return () => {
      document.title = `${screen} · cowork`
    }
  }, [open, screen])
}
