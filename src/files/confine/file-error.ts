import type { FileErrorCode } from '../model.ts'

/** An operation error of the worker. `path` is relative, as requested. */
export class FileError extends Error {
  readonly code: FileErrorCode
  readonly path: string | undefined

  constructor(code: FileErrorCode, message: string, path?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'FileError'
    this.code = code
    this.path = path
  }
}

const errorsByErrno: Readonly<Record<string, readonly [FileErrorCode, string]>> = {
  ENOENT: ['not_found', 'Not found.'],
  EEXIST: ['exists', 'Already exists.'],
  ENOTEMPTY: ['exists', 'The folder is not empty.'],
  ENOTDIR: ['not_a_folder', 'A parent of the path is not a folder.'],
  EISDIR: ['is_a_folder', 'The path is a folder, not a file.'],
  ENAMETOOLONG: ['invalid_path', 'The path is too long.'],
  EINVAL: ['invalid_path', 'The file system does not accept the name.'],
  EILSEQ: ['invalid_path', 'The file system does not accept the name.'],
  ELOOP: ['path_escape', 'The path contains a symbolic link that cannot be followed.'],
  EACCES: ['no_permission', 'Permission denied for the account that runs cowork.'],
  EPERM: ['no_permission', 'Permission denied for the account that runs cowork.'],
  EROFS: ['read_only_disk', 'The disk is mounted read-only.'],
  ENOSPC: ['disk_full', 'The disk is full. Nothing was changed.'],
  EDQUOT: ['disk_full', 'The disk quota is exceeded. Nothing was changed.'],
  EFBIG: ['too_large', 'The file is too large for the file system.'],
  EXDEV: ['other_device', 'The path is on another disk.'],
  ENXIO: ['not_regular', 'Not a regular file.'],
  ENODEV: ['not_regular', 'Not a regular file.'],
  ETXTBSY: ['no_permission', 'The file is a running program.'],
  EBUSY: ['no_permission', 'The file is in use.'],
  EIO: ['unreadable', 'The disk reported an error.'],
  ESTALE: ['unreadable', 'The disk is no longer available.'],
}

export const getErrno = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** Converts any error. The system's message is left out, because it may name paths outside the roots. */
export const toFileError = (error: unknown, path?: string): FileError => {
  if (error instanceof FileError) return error
  const errno = getErrno(error)
  const [code, message] = (errno === undefined ? undefined : errorsByErrno[errno]) ?? [
    'unreadable',
    errno === undefined ? 'The operation failed.' : `The operation failed (${errno}).`,
  ]
  return new FileError(code, message, path, error)
}
