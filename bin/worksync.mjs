#!/usr/bin/env -S node --
// Seed 003's `worksync`. Plain JavaScript for any Node >= 20, as cowork.mjs beside it.
import { launch } from './node.mjs'

await launch(import.meta.url, () => import('../src/cli/worksync.ts'))
