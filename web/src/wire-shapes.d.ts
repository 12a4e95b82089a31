/** Made by `web/wire-shapes.ts`. */
declare module 'virtual:wire-shapes' {
  export const shapes: import('../../src/wire/shape.ts').Shapes
}
