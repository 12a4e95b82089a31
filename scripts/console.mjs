// Plain JavaScript for any Node >= 20: builds the console if its sources differ from those of the last build.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stepAside } from '../bin/node.mjs'

/** Hashes the content, not the times: a checkout touches unchanged files. Takes about 5 ms. */
function hashFiles(root) {
  const web = join(root, 'web')
  const files = ['package-lock.json', ...listFiles(web).map((path) => relative(root, path))]
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

const listFiles = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'dist' ? [] : listFiles(path)
    return /\.test\.tsx?$/.test(entry.name) ? [] : [path]
  })

/** Runs Vite with `node`; `env` must find it. */
export function consoleBuild({ root, node, env }) {
  // Inside the build folder, which every other build empties.
  const stamp = join(root, 'web', 'dist', '.sources')
  const expected = hashFiles(root)
  return {
    isBuilt: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === expected,
    async build() {
      console.error('Building the console (first run, or its sources changed)…')
      const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
      // stdout belongs to the command that follows.
      const code = await stepAside(node, [vite, 'build', 'web', '--logLevel', 'warn'], {
        cwd: root,
        // With NODE_ENV of the environment React could make a development build.
        env: { ...env, NODE_ENV: 'production' },
        stdio: ['ignore', 2, 2],
      })
      if (code === 0) writeFileSync(stamp, expected)
      return code
    },
  }
}
