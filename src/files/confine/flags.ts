import { constants } from 'node:fs'

export const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = constants

// Windows does not define these flags.
const optionalFlags: Partial<typeof constants> = constants
export const { O_NOCTTY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = optionalFlags
