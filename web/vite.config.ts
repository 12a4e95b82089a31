import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { Plugin } from 'vite'
import { wireShapes } from './wire-shapes.ts'

/** The theme is chosen by script, and CSP allows none in the page: painting waits for it, so nothing flashes. */
const paintAfterScript: Plugin = {
  name: 'paint-after-script',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
}

export default defineConfig({
  plugins: [react(), tailwindcss(), paintAfterScript, wireShapes],
  build: {
    // The browsers that know light-dark(), Web Locks and <dialog>.
    target: ['chrome125', 'firefox128', 'safari18'],
    // data: addresses would need a wider CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // One file for what every screen needs: in ten small ones it is 5 kB larger when compressed.
      output: { codeSplitting: { groups: [{ name: 'initial', tags: ['$initial'] }] } },
    },
  },
})
