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
      .describe('Time a client has to send its request, in seconds. Default 30.'),
    calls_in_flight: integer(1)
      .default(64)
      .describe('Maximum of running calls per agent or person; more get status 429. Default 64.'),
    sessions: integer(1)
      .default(256)
      .describe('Maximum of open sessions of legacy MCP clients (2025 protocol). Default 256.'),
    session_idle_minutes: integer(1)
      .default(30)
      .describe('Idle time after which a session ends, in minutes. Default 30.'),
  })
  .prefault({})
  .describe('Request limits.')

const server = z
  .strictObject({
    host: nonEmptyString('a host name or address', /^[\w.:%[\]-]+$/)
      .default('localhost')
      .describe(
        'Address to listen on. `localhost` means both loopbacks. Anything but loopback needs `tls` or `insecure_bind`, and registered agents. Default localhost.',
      ),
    port: port
      .default(8765)
      .describe('Port of the console, the API and /mcp. 0 chooses a free port. Default 8765.'),
    sandbox_port: port
      .optional()
      .describe('Port of the sandbox page for MCP Apps, a separate origin. Default `port` + 1.'),
    transport: z
      .enum(['http', 'sse', 'stdio'])
      .default('http')
      .describe(
        'Behavior of `cowork` without a command: `http` is `cowork up`, `sse` adds the legacy HTTP+SSE endpoints, `stdio` is `cowork mcp`. Default http.',
      ),
    public_url: httpUrl
      .optional()
      .describe('URL of the console, used in review links. Default http://localhost:<port>.'),
    allowed_hosts: z
      .array(nonEmptyString('a host name, with its port if it has one', /^[\w.:[\]-]+$/))
      .default([])
      .describe(
        'Host headers accepted besides localhost, 127.0.0.1 and [::1] with the port of the daemon.',
      ),
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
        'Environment variables that reveal an agent in the terminal: `cowork approve` refuses if one is set. Best effort.',
      ),
    log_level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .describe('Minimum level of messages logged to stderr. Default info.'),
    otlp_endpoint: httpUrl
      .refine((address) => URL.canParse(address) && !/^https?:\/\/[^/]*@/.test(address), {
        error: 'must be a URL without user and password; use otlp_headers instead',
      })
      .optional()
      .describe(
        'OTLP/HTTP endpoint for traces and metrics as JSON, for example http://localhost:4318; /v1/traces and /v1/metrics are appended. Default: no export.',
      ),
    otlp_headers: z
      .record(z.string(), secretText)
      .default({})
      .describe(
        'Headers of OTLP requests, for example authorization; each a value or a reference.',
      ),
    otlp_service_name: trimmedName
      .default('cowork')
      .describe('Service name in OTLP data (service.name). Default cowork.'),
  })
  .prefault({})
  .describe('Endpoints of the daemon: addresses, limits and allowed clients.')

/** The sections of `cowork.yaml` that this module reads. */
export const serverConfig = { server }
