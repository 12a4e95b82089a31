import { readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context, Hono } from 'hono'
import { screens } from '#base/screens.ts'
import { consoleOrigin } from './guards.ts'
import type { Env, GuardOptions } from './guards.ts'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Allows only the console's own scripts, no framing and no referrer (SV26). */
const securityHeaders = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), publickey-credentials-create=(self), publickey-credentials-get=(self)',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}
const compressible = /^(text|application)\/|svg/

const notBuilt = `cowork is running, but the console is not built.

Run \`npm run build\` in the cowork folder, then reload this page.
`

type File = { readonly path: string; readonly type: string; gzipped?: Promise<Buffer> }

export type ConsoleOptions = {
  /** The output folder of Vite. */
  readonly folder: string
  readonly guard: GuardOptions
}

/** Serves the console's files, and its page at the path of every screen (C1). */
export function mountConsole(app: Hono<Env>, { folder, guard }: ConsoleOptions): void {
  const index = join(folder, 'index.html')
  let listed = new Map<string, File>()
  let listedAt: number | undefined

  /** Lists the servable files. A request can read only these, so a path cannot leave the folder. */
  function files(): Map<string, File> {
    const builtAt = statSync(index, { throwIfNoEntry: false })?.mtimeMs
    if (builtAt !== listedAt) {
      listed = builtAt === undefined ? new Map() : listFiles(folder)
      listedAt = builtAt
    }
    return listed
  }

  async function page(c: Context<Env>): Promise<Response> {
    const { host, pathname, search } = new URL(c.req.url)
    // Passkeys and the stored session belong to localhost; the browser carries the fragment along.
    if (/^(127\.0\.0\.1|\[::1\]):/.test(host))
      return c.redirect(`${consoleOrigin(guard)}${pathname}${search}`, 307)
    const indexFile = files().get('/index.html')
    if (indexFile) return sendFile(c, indexFile, 'no-store')
    return new Response(notBuilt, {
      status: 503,
      headers: {
        ...securityHeaders,
        'Content-Type': 'text/plain; charset=utf-8',
        'Retry-After': '5',
      },
    })
  }

  async function sendFile(c: Context<Env>, file: File, cache: string): Promise<Response> {
    const headers = { ...securityHeaders, 'Content-Type': file.type, 'Cache-Control': cache }
    const body = await readFile(file.path)
    if (!compressible.test(file.type) || !/\bgzip\b/.test(c.req.header('accept-encoding') ?? ''))
      return new Response(body, { headers })
    file.gzipped ??= promisify(gzip)(body)
    return new Response(await file.gzipped, {
      headers: { ...headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    })
  }

  app.get('/', page)
  for (const screen of [...screens, 'welcome']) {
    app.get(`/${screen}`, page)
    app.get(`/${screen}/*`, page)
  }
  app.get('*', async (c, next) => {
    const file = listed.get(c.req.path) ?? files().get(c.req.path)
    if (!file || c.req.path === '/index.html') return next()
    // Vite puts a content hash into the names below assets.
    const isHashed = c.req.path.startsWith('/assets/')
    return sendFile(c, file, isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
  })
}

function listFiles(folder: string): Map<string, File> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    paths.map((path) => {
      const urlPath = `/${relative(folder, path).split(sep).join('/')}`
      return [urlPath, { path, type: contentTypes[extname(path)] ?? 'application/octet-stream' }]
    }),
  )
}
