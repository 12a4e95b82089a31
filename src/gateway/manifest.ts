import type { Manifest } from '#base/module.ts'
import { gatewayErrors } from './errors.ts'

export const gatewayManifest = {
  name: 'gateway',
  errors: gatewayErrors,
  entries: {
    'server.added': 'an MCP server was added behind cowork',
    'server.removed': 'an MCP server was removed',
    'server.tools_pinned': 'the first tool list of a server was accepted',
    'server.tool_quarantined': 'a new, changed, renamed or flagged tool is held back',
    'server.tools_accepted': 'a person accepted quarantined tools',
  },
  load: () => import('./module.ts'),
} as const satisfies Manifest
