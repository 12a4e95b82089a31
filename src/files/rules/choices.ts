import { CoworkError } from '#base/errors.ts'
import type { Grant } from '../model.ts'
import type { Inode } from '../worker/protocol.ts'

/** What a person can answer to a request for access (GR3). */
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

/** What lay at a path when it was looked at: a grant is for that and for nothing put there later. */
export type Pin = Pick<Grant, 'path' | 'kind'> & Inode

export type RequestedAccess = {
  readonly permission: 'read' | 'read-write'
  readonly real: string
  /** Nothing where nothing was there that can be granted. */
  readonly pin: Pin | null
  /** The folder itself, or that of the file; nothing where that holds the home. */
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
      // Where nothing is, all that may come there is meant.
      return {
        ...(pin ?? { path: request.real, kind: 'folder', dev: '', ino: '' }),
        permission: 'deny',
        ...permanent,
      }
    case 'deny':
      throw invalidChoiceError('A denial opens nothing.', 'Reject the request.')
  }
}

/** The narrowest choice that gives what was asked. Writing to a file alone is none of them, so it must be said. */
export function narrowestChoice(request: RequestedAccess): GrantChoice {
  const { permission, pin } = request
  if (!pin) throw missingTargetError(request)
  if (permission === 'read') return pin.kind === 'file' ? 'file_once' : 'folder_session'
  if (pin.kind === 'folder') return 'folder_write'
  throw invalidChoiceError(
    'Say how far this goes: the file until a time, its folder to write in, or reading only.',
    'Choose until, folder_write, folder, file or file_once.',
  )
}

function requireFile(request: RequestedAccess): Pin {
  const { pin } = request
  if (pin?.kind === 'file') return pin
  throw pin
    ? invalidChoiceError('A folder was asked for, not a file.', 'Allow the folder, or deny it.')
    : missingTargetError(request)
}

function requireFolder(request: RequestedAccess): Pin {
  const { pin, folderPin } = request
  if (folderPin?.kind === 'folder') return folderPin
  throw pin
    ? invalidChoiceError(
        'The folder around it is not opened along with it: it is your home, or holds it.',
        'Allow the file, or deny it.',
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
    'Access until a time needs a time to come.',
    'Give `until` as 2027-01-31T18:00:00Z.',
  )
}

const invalidChoiceError = (message: string, hint: string) =>
  new CoworkError('invalid_input', message, { hint })

const missingTargetError = ({ folderPin }: RequestedAccess) =>
  new CoworkError(
    'not_found',
    'Nothing was there when it was asked for, so this cannot be granted.',
    {
      hint: folderPin
        ? 'Allow its folder, or deny it; the agent may ask again.'
        : 'Deny it; the agent may ask again for what is there.',
    },
  )
