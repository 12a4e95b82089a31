#!/usr/bin/env -S node --
// Client configs call whatever `node` is on the PATH, so this file is plain JavaScript for any
// Node >= 20 and starts itself again under the pinned Node when the caller's is too old.
import { launch } from './node.mjs'

await launch(import.meta.url, () => import('../src/cli/main.ts'))
