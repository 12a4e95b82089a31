/** Made by `web/wire-shapes.ts`; of the type `Shapes`, which an ambient module cannot import. */
declare module 'virtual:wire-shapes' {
  export const shapes: unknown
}
