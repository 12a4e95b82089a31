import { CoworkError } from '#base/errors.ts'
import { plainText } from '#base/plain.ts'
import { fileFault } from '../faults.ts'
import type { Permission } from '../model.ts'
import type { Pin } from '../rules/choices.ts'
import type { Guard } from '../rules/guard.ts'
import { understandPath } from '../rules/paths.ts'
import type { Where } from '../rules/paths.ts'
import { pinOf } from './pin.ts'

type Deps = { readonly guard: Guard; readonly where: Where }

/** What lies there, if a grant for it would open something; throws why not. */
export async function grantable(
  given: string,
  permission: Permission,
  { guard, where }: Deps,
): Promise<Pin> {
  const understood = understandPath(given, where)
  if (understood.area === 'workspace') throw inWorkspace(given)
  const need = permission === 'read' ? 'read' : 'write'
  const pin = await pinOf(understood.path)
  if (guard.forbidden(understood.path, need) || (pin && guard.forbidden(pin.path, need)))
    throw fileFault(
      'forbidden_path',
      understood.path,
      `${plainText(given, 300)} is closed to agents.`,
      'No grant opens it. Copy what they need into the workspace.',
    )
  if (!pin)
    throw fileFault(
      'not_found',
      understood.path,
      `No file or folder is at ${plainText(given, 300)}.`,
      'Check the path.',
    )
  // Named over a link it is the workspace all the same.
  if (understandPath(pin.path, where).area === 'workspace') throw inWorkspace(given)
  if (permission === 'write' && pin.kind === 'file')
    throw new CoworkError('invalid_input', 'New files are made in a folder, not in a file.', {
      hint: 'Grant the folder, or give read-write.',
    })
  return pin
}

const inWorkspace = (given: string) =>
  new CoworkError('invalid_path', `${plainText(given, 300)} is in the workspace.`, {
    hint: 'Agents may use it already. For another folder give its path from / or ~/.',
  })
