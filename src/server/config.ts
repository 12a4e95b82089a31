import * as z from 'zod'
import {
  httpUrl,
  trimmedName,
  filePath,
  port,
  secretText,
  nonEmptyString,
  integer,
} from '#base/config/field-types.ts'

const limits = z
  .strictObject({
    body_bytes: integer(1024)
      .default(4 * 1024 * 1024)
      .describe('Largest request body, in bytes. Default 4194304 (4 MiB).'),
    file_body_bytes: integer(1024)
      .default(72 * 1024 * 1024)
      .describe(
        'Largest body of an authenticated file write, in bytes. Default 75497472 (72 MiB).',
      ),
    header_bytes: integer(1024, 1024 * 1024)
      .default(16 * 1024)
      .describe('Largest set of request headers, in bytes. Default 16384 (16 KiB).'),
    body_seconds: integer(1, 3600)
      .default(30)
      .describe('How long a slow client may take to send its body, in seconds. Default 30.'),
    calls_in_flight: integer(1)
      .default(64)
      .describe(
        'Calls one agent or person may have running at once; more are answered 429. Default 64.',
      ),
    sessions: integer(1)
      .default(256)
      .describe('Sessions of clients of the 2025 protocol that may be open at once. Default 256.'),
    session_idle_minutes: integer(1)
      .default(30)
      .describe('Idle time after which a session ends, in minutes. Default 30.'),
  })
  .prefault({})
  .describe('How much one client may ask for before it is told to slow down.')

const server = z
  .strictObject({
    host: nonEmptyString('a host name or address', /^[\w.:%[\]-]+$/)
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
      .array(nonEmptyString('a host name, with its port if it has one', /^[\w.:[\]-]+$/))
      .default([])
      .describe('Host headers accepted besides localhost, 127.0.0.1 and [::1] with our port.'),
    allowed_origins: z
      .array(
        nonEmptyString(
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
        cert: filePath.describe('File with the certificate chain, PEM.'),
        key: filePath.describe('File with the private key, PEM.'),
      })
      .optional()
      .describe('Serve HTTPS with this certificate.'),
    limits,
    agent_markers: z
      .array(
        nonEmptyString(
          'the name of an environment variable, with * at its end at most',
          /^\w+\*?$/,
        ),
      )
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
      .record(z.string(), secretText)
      .default({})
      .describe('Headers sent with it, such as authorization; each a value or a reference.'),
    otlp_service_name: trimmedName
      .default('cowork')
      .describe('What it calls itself there (service.name). Default cowork.'),
  })
  .prefault({})
  .describe('The doors: where the daemon listens and what it lets in.')

/** The sections of `cowork.yaml` that this module reads. */
export const serverConfig = { server }
