import type { Manifest } from '#base/module.ts'
import { dispatchErrors } from './errors.ts'

export const dispatchManifest = {
  name: 'dispatch',
  errors: dispatchErrors,
  entries: {
    'call.started': 'a write outside the store starts',
    'call.done': 'a call succeeded',
    'call.failed': 'a call failed, with the code as `outcome`',
    'call.refused': 'a call was refused, with the code as `outcome`',
  },
} as const satisfies Manifest
