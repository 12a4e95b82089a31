import { useLayoutEffect, useState } from 'react'
import type { RefObject } from 'react'

/** Returns the rendered width in pixels: a chart with marks cannot be stretched. */
export function useWidth(ref: RefObject<Element | null>, defaultWidth: number): number {
  const [width, setWidth] = useState(defaultWidth)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setWidth(Math.max(1, Math.floor(element.clientWidth)))
    const observer = new ResizeObserver(measure)
    measure()
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return width
}
