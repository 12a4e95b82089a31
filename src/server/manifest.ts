import type { Manifest } from '#base/module.ts'
import { serverConfig } from './config.ts'
import { serverErrors } from './errors.ts'

export const serverManifest = {
  name: 'server',
  errors: serverErrors,
  config: serverConfig,
  entries: {
    'daemon.started': 'the daemon started',
    'daemon.stopped': 'the daemon stopped',
    'request.refused': 'an MCP request was refused before it became a call',
  },
} as const satisfies Manifest
