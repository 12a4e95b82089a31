import { useEffect } from 'react'
import { sanitizeText } from './sanitize.ts'

/** Sets the page title to the open item, and back to the screen when the item closes. */
export function useTitle(open: string, screen: string): void {
  useEffect(() => {
    document.title = `${sanitizeText(open)} · cowork`
    return () => {
      document.title = `${screen} · cowork`
    }
  }, [open, screen])
}
