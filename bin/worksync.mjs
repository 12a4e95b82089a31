#!/usr/bin/env -S node --
// Seed 003's `worksync`: plain JavaScript for any Node >= 20, like cowork.mjs.
import { launch } from './node.mjs'

await launch(import.meta.url, () => import('../src/cli/worksync.ts'))
