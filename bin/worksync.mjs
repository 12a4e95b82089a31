#!/usr/bin/env node
// Seed 003's `worksync`. Plain JavaScript for any Node >= 18, as cowork.mjs beside it.
import { launch } from './node.mjs'

await launch(import.meta.url, () => import('../src/cli/worksync.ts'))
