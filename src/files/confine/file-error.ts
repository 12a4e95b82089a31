import type { FileErrorCode } from '../model.ts'

/** What the worker answers when an operation does not succeed. `path` is relative, as it was asked for. */
export class FileError extends Error {
  readonly code: FileErrorCode
  readonly path: string | undefined

  constructor(code: FileErrorCode, message: string, path?: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'FileFault'
    this.code = code
    this.path = path
  }
}

const errorsByErrno: Readonly<Record<string, readonly [FileErrorCode, string]>> = {
  ENOENT: ['not_found', 'There is nothing at that path.'],
  EEXIST: ['exists', 'There is something at that path already.'],
  ENOTEMPTY: ['exists', 'The folder is not empty.'],
  ENOTDIR: ['not_a_folder', 'A name on the way is not a folder.'],
  EISDIR: ['is_a_folder', 'That is a folder, not a file.'],
  ENAMETOOLONG: ['invalid_path', 'The path is too long.'],
  EINVAL: ['invalid_path', 'The disk does not take that name.'],
  EILSEQ: ['invalid_path', 'The disk does not take that name.'],
  ELOOP: ['path_escape', 'A link on the way was refused.'],
  EACCES: ['no_permission', 'The account cowork runs as may not do that there.'],
  EPERM: ['no_permission', 'The account cowork runs as may not do that there.'],
  EROFS: ['read_only_disk', 'The disk is mounted read-only.'],
  ENOSPC: ['disk_full', 'The disk is full. Nothing was changed.'],
  EDQUOT: ['disk_full', 'The disk quota is used up. Nothing was changed.'],
  EFBIG: ['too_large', 'The disk does not take a file that large.'],
  EXDEV: ['other_device', 'That lies on another disk.'],
  ENXIO: ['not_regular', 'Only regular files are read and written.'],
  ENODEV: ['not_regular', 'Only regular files are read and written.'],
  ETXTBSY: ['no_permission', 'The file is running as a program.'],
  EBUSY: ['no_permission', 'The file is in use.'],
  EIO: ['unreadable', 'The disk reported an error.'],
  ESTALE: ['unreadable', 'The disk it lies on has gone.'],
}

export const getErrno = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

/** Any error as a fault. The system's own message is left out, for it may name paths outside the roots. */
export const toFileError = (error: unknown, path?: string): FileError => {
  if (error instanceof FileError) return error
  const errno = getErrno(error)
  const [code, message] = (errno === undefined ? undefined : errorsByErrno[errno]) ?? [
    'unreadable',
    errno === undefined ? 'The operation failed.' : `The operation failed (${errno}).`,
  ]
  return new FileError(code, message, path, error)
}
