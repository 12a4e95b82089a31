// Plain JavaScript for any Node >= 20: builds the console when its sources are not those it was built from.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stepAside } from '../bin/node.mjs'

/** By content, not by time: a checkout touches files that did not change. About 5 ms. */
function digestOf(root) {
  const web = join(root, 'web')
  const files = ['package-lock.json', ...filesIn(web).map((path) => relative(root, path))]
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'dist' ? [] : filesIn(path)
    return /\.test\.tsx?$/.test(entry.name) ? [] : [path]
  })

/** `node` runs Vite; `env` must find it. */
export function consoleBuild({ root, node, env }) {
  // Inside the build, because every other build empties that folder.
  const stamp = join(root, 'web', 'dist', '.sources')
  const wanted = digestOf(root)
  return {
    isBuilt: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted,
    async build() {
      console.error('Building the console (first run, or its sources changed)…')
      const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
      // stdout belongs to the command that follows.
      const code = await stepAside(node, [vite, 'build', 'web', '--logLevel', 'warn'], {
        cwd: root,
        // Of the environment's own NODE_ENV React would make a development build.
        env: { ...env, NODE_ENV: 'production' },
        stdio: ['ignore', 2, 2],
      })
      if (code === 0) writeFileSync(stamp, wanted)
      return code
    },
  }
}
