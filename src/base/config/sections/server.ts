import * as z from 'zod'
import {
  httpUrl,
  isPostgresUrl,
  isReference,
  name,
  path,
  pattern,
  port,
  secret,
  text,
  whole,
} from '../kinds.ts'

const limits = z
  .strictObject({
    body_bytes: whole(1024)
      .default(4 * 1024 * 1024)
      .describe('Largest request body, in bytes. Default 4194304 (4 MiB).'),
    file_body_bytes: whole(1024)
      .default(72 * 1024 * 1024)
      .describe(
        'Largest body of an authenticated file write, in bytes. Default 75497472 (72 MiB).',
      ),
    header_bytes: whole(1024, 1024 * 1024)
      .default(16 * 1024)
      .describe('Largest set of request headers, in bytes. Default 16384 (16 KiB).'),
    body_seconds: whole(1, 3600)
      .default(30)
      .describe('How long a slow client may take to send its body, in seconds. Default 30.'),
    calls_in_flight: whole(1)
      .default(64)
      .describe(
        'Calls one agent or person may have running at once; more are answered 429. Default 64.',
      ),
    sessions: whole(1)
      .default(256)
      .describe('Sessions of clients of the 2025 protocol that may be open at once. Default 256.'),
    session_idle_minutes: whole(1)
      .default(30)
      .describe('Idle time after which a session ends, in minutes. Default 30.'),
  })
  .prefault({})
  .describe('How much one client may ask for before it is told to slow down.')

export const server = z
  .strictObject({
    host: text('a host name or address', /^[\w.:%[\]-]+$/)
      .default('localhost')
      .describe(
        'Address to listen on. `localhost` means both loopbacks. Anything but loopback needs `tls` or `insecure_bind`, and registered agents. Default localhost.',
      ),
    port: port
      .default(8765)
      .describe('Port of the console, the API and /mcp. 0 takes a free one. Default 8765.'),
    sandbox_port: port
      .optional()
      .describe('Port of the page that holds MCP Apps in their own origin. Default `port` + 1.'),
    transport: z
      .enum(['http', 'sse', 'stdio'])
      .default('http')
      .describe(
        'What `cowork` without a command does: `http` is `cowork up`, `sse` adds the old HTTP+SSE addresses, `stdio` is `cowork mcp`. Default http.',
      ),
    public_url: httpUrl
      .optional()
      .describe(
        'Address people reach the console at, used in review links. Default http://localhost:<port>.',
      ),
    allowed_hosts: z
      .array(text('a host name, with its port if it has one', /^[\w.:[\]-]+$/))
      .default([])
      .describe('Host headers accepted besides localhost, 127.0.0.1 and [::1] with our port.'),
    allowed_origins: z
      .array(
        text(
          'an origin such as https://desk.example or chrome-extension://<id>',
          /^[\w+.-]+:\/\/[^\s/*]+$/,
        ),
      )
      .default([])
      .describe('Origin headers accepted besides the console itself. No wildcards.'),
    insecure_bind: z
      .boolean()
      .default(false)
      .describe(
        'Allow listening beyond loopback without TLS, for example inside a container. Default false.',
      ),
    tls: z
      .strictObject({
        cert: path.describe('File with the certificate chain, PEM.'),
        key: path.describe('File with the private key, PEM.'),
      })
      .optional()
      .describe('Serve HTTPS with this certificate.'),
    limits,
    agent_markers: z
      .array(text('the name of an environment variable, with * at its end at most', /^\w+\*?$/))
      .default(['CLAUDECODE', 'CODEX_*', 'CURSOR_AGENT', 'GEMINI_CLI'])
      .describe(
        'Environment variables that show an agent is driving the terminal: `cowork approve` refuses when one is set. Best effort.',
      ),
    log_level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('Least serious message that is logged to stderr. Default info.'),
    otlp_endpoint: httpUrl
      .refine((address) => URL.canParse(address) && !/^https?:\/\/[^/]*@/.test(address), {
        error: 'must be an address without a user and password; use otlp_headers for those',
      })
      .optional()
      .describe(
        'Where to send OpenTelemetry traces and metrics over OTLP/HTTP as JSON, such as http://localhost:4318; /v1/traces and /v1/metrics are added. Default: nowhere.',
      ),
    otlp_headers: z
      .record(z.string(), secret)
      .default({})
      .describe('Headers sent with it, such as authorization; each a value or a reference.'),
    otlp_service_name: name
      .default('cowork')
      .describe('What it calls itself there (service.name). Default cowork.'),
  })
  .prefault({})
  .describe('The doors: where the daemon listens and what it lets in.')

export const storage = z
  .strictObject({
    driver: z
      .enum(['sqlite', 'postgres'])
      .optional()
      .describe('Engine of the control plane. Follows from `url`, so it need not be written.'),
    path: path
      .default('cowork.db')
      .describe('File of the embedded SQLite store. Default cowork.db in the state directory.'),
    url: secret
      .refine((url) => isReference(url) || isPostgresUrl(url), {
        error: 'must be a postgres:// address or a reference such as env:DATABASE_URL',
      })
      .optional()
      .describe(
        'PostgreSQL address, postgres://user:password@host/database, or a reference to it. Moves the whole control plane there.',
      ),
  })
  .refine((it) => it.driver !== 'postgres' || it.url !== undefined, {
    path: ['driver'],
    error: 'is postgres, so storage.url must say where the database is',
  })
  .refine((it) => it.driver !== 'sqlite' || it.url === undefined, {
    path: ['driver'],
    error: 'is sqlite, but storage.url names a PostgreSQL database: keep one of the two',
  })
  .prefault({})
  .describe('Where state is kept.')

export const ledger = z
  .strictObject({
    key_path: path
      .default('ledger.key')
      .describe(
        'Private key that signs checkpoints, made on first run with mode 0600. Default ledger.key in the state directory.',
      ),
    checkpoint_copies: z
      .union([path, z.array(path).min(1)], 'a path, or a list of paths')
      .default('checkpoints')
      .transform((folders) => (typeof folders === 'string' ? [folders] : folders))
      .describe(
        'Folder outside the store that gets a copy of every checkpoint, or a list of folders, such as one on another disk. Default checkpoints in the state directory.',
      ),
  })
  .prefault({})
  .describe('The append-only record and its proofs.')

export const audit = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Write the JSONL copies of the ledger. `false` stops the copies, never the ledger. Default true.',
      ),
    log_path: path
      .default('logs/audit.jsonl')
      .describe(
        'Log of file operations, one a line (seed 004). Default logs/audit.jsonl in the state directory.',
      ),
    max_log_size_mb: whole(1)
      .default(100)
      .describe('Size at which a mirror is rotated, in MB. Default 100.'),
    payload_days: whole(0)
      .default(90)
      .describe(
        'How long redacted arguments stay readable for replay and review, in days; 0 keeps them until they are erased by hand. Default 90.',
      ),
    redact: z
      .array(pattern)
      .default([])
      .describe(
        'Regular expressions (RE2) whose matches are blanked in every entry and log line, besides the built-in ones.',
      ),
  })
  .prefault({})
  .describe('Copies of the ledger for people and tools.')
