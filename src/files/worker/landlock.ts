/**
 * Landlock through its three system calls, landlock(7). A process gives up rights permanently, and execve keeps
 * the restriction. Linux only; koffi is present only where npm could install it.
 */
import fs from 'node:fs'
import { matchesPin } from '../confine/inode.ts'
import type { Inode } from './protocol.ts'

const fsRights = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readDir: 1 << 3,
  removeDir: 1 << 4,
  removeFile: 1 << 5,
  makeDir: 1 << 7,
  makeRegular: 1 << 8,
  makeSymlink: 1 << 12,
  refer: 1 << 13,
  truncate: 1 << 14,
} as const

/** The number of file rights that each ABI version knows. Before version 2, files cannot move between folders. */
const fsBits = (abi: number) => (abi >= 5 ? 16 : abi >= 3 ? 15 : 14)
const minAbi = 2
/** TCP bind and connect. */
const tcpRights = 0b11n
/** Abstract Unix sockets of other processes, and signals to them. */
const scopes = 0b11n

const fileRights = fsRights.execute | fsRights.writeFile | fsRights.readFile | fsRights.truncate

const rightsByUse = {
  run: fsRights.execute | fsRights.readFile,
  read: fsRights.readFile | fsRights.readDir,
  // Symbolic links are created when one is moved; devices, sockets and FIFOs never.
  'read-write':
    fsRights.readFile |
    fsRights.readDir |
    fsRights.writeFile |
    fsRights.removeDir |
    fsRights.removeFile |
    fsRights.makeDir |
    fsRights.makeRegular |
    fsRights.makeSymlink |
    fsRights.refer |
    fsRights.truncate,
} as const

export type Rule = {
  readonly path: string
  readonly use: keyof typeof rightsByUse
  /** Restricts the rule to this inode; if the path leads to another one, no rule is added. */
  readonly inode?: Partial<Inode>
}

const createRuleset = 444
const addRule = 445
const restrictSelf = 446
const versionFlag = 1
const pathBeneath = 1
const noNewPrivileges = 38
const O_PATH = 0o10000000

/** Restricts this thread to the rules and denies TCP. Throws if Landlock is not available. */
export async function restrict(rules: readonly Rule[]): Promise<void> {
  const { default: koffi } = await import('koffi')
  const libc = koffi.load(null)
  const fail = (operation: string) => new Error(`${operation} failed with error ${koffi.errno()}`)
  const create = libc.func('long syscall(long n, void *attr, size_t size, uint flags)')
  const add = libc.func('long syscall(long n, int ruleset, uint type, void *attr, uint flags)')
  const enforce = libc.func('long syscall(long n, int ruleset, uint flags)')
  const prctl = libc.func('int prctl(int what, ulong a, ulong b, ulong c, ulong d)')

  const abi = Number(create(createRuleset, null, 0, versionFlag))
  if (abi < minAbi) throw new Error('Landlock is missing or too old in this kernel')
  const knownRights = 2 ** fsBits(abi) - 1
  const attributes = Buffer.alloc(24)
  attributes.writeBigUInt64LE(BigInt(knownRights), 0)
  attributes.writeBigUInt64LE(tcpRights, 8)
  attributes.writeBigUInt64LE(scopes, 16)
  const size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8
  const ruleset = Number(create(createRuleset, attributes, size, 0))
  if (ruleset < 0) throw fail('creating the ruleset')

  for (const { path, use, inode = {} } of rules) {
    const fd = openIfExists(path)
    if (fd === undefined) continue
    const stat = fs.fstatSync(fd, { bigint: true })
    const rights = rightsByUse[use] & knownRights & (stat.isDirectory() ? ~0 : fileRights)
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(BigInt(rights), 0)
    rule.writeInt32LE(fd, 8)
    const isAdded =
      !matchesPin(inode, stat) || Number(add(addRule, ruleset, pathBeneath, rule, 0)) === 0
    fs.closeSync(fd)
    if (!isAdded) throw fail(`adding a rule for ${path}`)
  }
  if (Number(prctl(noNewPrivileges, 1, 0, 0, 0)) !== 0) throw fail('setting no_new_privs')
  if (Number(enforce(restrictSelf, ruleset, 0)) !== 0) throw fail('restricting the process')
  fs.closeSync(ruleset)
}

function openIfExists(path: string): number | undefined {
  try {
    return fs.openSync(path, O_PATH)
  } catch {
    return undefined
  }
}
