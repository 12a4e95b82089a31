#!/usr/bin/env -S node --
// Plain JavaScript for any Node >= 20: client configs call the `node` of the PATH. Starts itself again under the pinned
// Node if the caller's Node is too old.
import { launch } from './node.mjs'

await launch(import.meta.url, () => import('../src/cli/main.ts'))
