import { CoworkError } from '#base/errors.ts'
import type { Grant } from '../model.ts'
import type { Inode } from '../worker/protocol.ts'

/** Answers that a person can give to an access request (GR3). */
export const grantChoices = [
  'file_once',
  'file',
  'folder',
  'folder_write',
  'folder_session',
  'until',
  'deny',
  'deny_always',
] as const
export type GrantChoice = (typeof grantChoices)[number]

/** The inode at a path during inspection. A grant is for this inode and for nothing put there later. */
export type Pin = Pick<Grant, 'path' | 'kind'> & Inode

export type RequestedAccess = {
  readonly permission: 'read' | 'read-write'
  readonly real: string
  /** Null if nothing that can be granted was at the path. */
  readonly pin: Pin | null
  /** The folder itself, or the parent of the file; null if it contains the home folder. */
  readonly folderPin: Pin | null
  readonly session: string | null
}

type NewGrant = Pin & Pick<Grant, 'permission' | 'scope' | 'session' | 'expiresAt'>

export function toGrant(
  choice: GrantChoice,
  request: RequestedAccess,
  { until, now }: { readonly until?: string | undefined; readonly now: number },
): NewGrant {
  const { pin, permission, session } = request
  const permanent = { scope: 'permanent', session: null, expiresAt: null } as const
  const sessionOnly = { scope: 'session', session, expiresAt: null } as const
  switch (choice) {
    case 'file_once':
      return { ...requireFile(request), permission: 'read', ...sessionOnly }
    case 'file':
      return { ...requireFile(request), permission: 'read', ...permanent }
    case 'folder':
      return { ...requireFolder(request), permission: 'read', ...permanent }
    case 'folder_write':
      return { ...requireFolder(request), permission: 'read-write', ...permanent }
    case 'folder_session':
      return { ...requireFolder(request), permission: 'read', ...sessionOnly }
    case 'until':
      return {
        ...requirePin(request),
        permission,
        ...permanent,
        expiresAt: parseExpiry(until, now),
      }
    case 'deny_always':
      // For a missing path, the denial covers everything created there.
      return {
        ...(pin ?? { path: request.real, kind: 'folder', dev: '', ino: '' }),
        permission: 'deny',
        ...permanent,
      }
    case 'deny':
      throw invalidChoiceError('A denial cannot approve a request.', 'Reject the request.')
  }
}

/** Returns the narrowest choice that covers the request. No choice covers writing to one file. */
export function narrowestChoice(request: RequestedAccess): GrantChoice {
  const { permission, pin } = request
  if (!pin) throw missingTargetError(request)
  if (permission === 'read') return pin.kind === 'file' ? 'file_once' : 'folder_session'
  if (pin.kind === 'folder') return 'folder_write'
  throw invalidChoiceError(
    'This request needs an explicit choice.',
    'Choose until, folder_write, folder, file or file_once.',
  )
}

function requireFile(request: RequestedAccess): Pin {
  const { pin } = request
  if (pin?.kind === 'file') return pin
  throw pin
    ? invalidChoiceError(
        'The request is for a folder, not a file.',
        'Allow the folder, or reject the request.',
      )
    : missingTargetError(request)
}

function requireFolder(request: RequestedAccess): Pin {
  const { pin, folderPin } = request
  if (folderPin?.kind === 'folder') return folderPin
  throw pin
    ? invalidChoiceError(
        'The parent folder cannot be granted: it is your home folder or contains it.',
        'Allow the file, or reject the request.',
      )
    : missingTargetError(request)
}

function requirePin(request: RequestedAccess): Pin {
  if (request.pin) return request.pin
  throw missingTargetError(request)
}

function parseExpiry(until: string | undefined, now: number): number {
  const at = Date.parse(until ?? '')
  if (at > now) return at
  throw invalidChoiceError(
    '`until` must be a time in the future.',
    'Use a format like 2027-01-31T18:00:00Z.',
  )
}

const invalidChoiceError = (message: string, hint: string) =>
  new CoworkError('invalid_input', message, { hint })

const missingTargetError = ({ folderPin }: RequestedAccess) =>
  new CoworkError(
    'not_found',
    'Cannot grant the path: it did not exist when access was requested.',
    {
      hint: folderPin
        ? 'Allow its folder, or reject the request; the agent may ask again.'
        : 'Reject the request; the agent may ask again for an existing path.',
    },
  )
