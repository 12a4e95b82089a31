import type { Plugin } from 'vite'
import { buildShapes } from '../src/wire/build-shapes.ts'

/** Zod would take 34 kB of the 200 kB that a first load may bring; the shapes of its schemas take 5 kB (0039). */
export const wireShapes: Plugin = {
  name: 'wire-shapes',
  resolveId: (id) => (id === 'virtual:wire-shapes' ? `\0${id}` : undefined),
  load: (id) =>
    id === '\0virtual:wire-shapes'
      ? `export const shapes = JSON.parse(${JSON.stringify(JSON.stringify(buildShapes()))})`
      : undefined,
}
