import { useLayoutEffect, useState } from 'react'
import type { RefObject } from 'react'

/** Returns the rendered width in pixels: a chart with marks cannot be stretched. */
export function useWidth(ref: RefObject<Element | null>, usual: number): number {
  const [width, setWidth] = useState(usual)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setWidth(Math.max(1, Math.floor(element.clientWidth)))
    const watch = new ResizeObserver(measure)
    measure()
    watch.observe(element)
    return () => watch.disconnect()
  }, [ref])
  return width
}
