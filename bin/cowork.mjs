#!/usr/bin/env node
// Client configs call whatever `node` is on the PATH, so this file is plain JavaScript for any
// Node >= 18 and starts itself again under the pinned Node when the caller's is too old.
import { accessSync, constants } from 'node:fs'
import * as module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNewEnough, nodeMissing, pinnedNode, stepAside } from './node.mjs'

if (isNewEnough()) {
  module.enableCompileCache(compileCache())
  await import('../src/cli/main.ts')
} else {
  const node = pinnedNode()
  if (!node) console.error(nodeMissing)
  const self = fileURLToPath(import.meta.url)
  process.exit(node ? await stepAside(node, [self, ...process.argv.slice(2)]) : 1)
}

// Never the shared temporary folder: whoever can write there could plant compiled code.
function compileCache() {
  const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
  try {
    accessSync(modules, constants.W_OK)
    return join(modules, '.cache', 'compile')
  } catch {
    return join(homedir(), '.cache', 'cowork', 'compile')
  }
}
