// Drops the rights of an administrator, who bypasses file modes, for tests that run as root.
const version = 0x20080522
/** Capabilities to bypass file modes and ownership: capabilities(7). */
const aboveModes = 0b1110

/** Runs `use` in this thread without the capabilities; other threads keep them. */
export async function unprivileged<T>(use: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return use()
  const { default: koffi } = await import('koffi')
  const libc = koffi.load(null)
  const get = libc.func('int capget(void *header, void *data)')
  const set = libc.func('int capset(void *header, void *data)')
  const header = Buffer.alloc(8)
  header.writeUInt32LE(version, 0)
  const rights = Buffer.alloc(24)
  if (Number(get(header, rights)) !== 0) throw new Error('the rights of this thread are not known')
  const fewer = Buffer.from(rights)
  fewer.writeUInt32LE((rights.readUInt32LE(0) & ~aboveModes) >>> 0, 0)
  const have = (which: Buffer) => {
    if (Number(set(header, which)) !== 0) throw new Error('the rights could not be changed')
  }
  have(fewer)
  try {
    return await use()
  } finally {
    have(rights)
  }
}
