import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Grant, AccessKind } from '../model.ts'
import {
  allows,
  listClosedSubpaths,
  covers,
  decideWithStaleGrants,
  decideGrant,
  findBlockingGrants,
  appliesTo,
  isActive,
  outlasts,
  readableSince,
  toRoots,
} from './grants.ts'
import type { Holder } from './grants.ts'

const sales: Holder = { kind: 'agent', agent: 'sales', session: 's1' }
const person: Holder = { kind: 'human' }
const now = 1000

function grant(
  path: string,
  permission: Grant['permission'],
  overrides: Partial<Grant> = {},
): Grant {
  return {
    id: `grant_${path}_${permission}`,
    agent: 'sales',
    node: 'here',
    path,
    kind: 'folder',
    dev: '1',
    ino: '2',
    born: null,
    permission,
    scope: 'permanent',
    session: null,
    hardLinks: false,
    grantedAt: 0,
    grantedBy: 'user_explicit',
    by: 'anna',
    approval: null,
    expiresAt: null,
    lastAccessed: null,
    accessCount: 0,
    revokedAt: null,
    revokedBy: null,
    ...overrides,
  }
}

const decide = (grants: Grant[], path: string, need: AccessKind, holder: Holder = sales) =>
  decideGrant(grants, { holder, path, need, now })
const getOutcome = (...query: Parameters<typeof decide>) => {
  const verdict = decide(...query)
  return verdict.grant ? 'granted' : verdict.code
}

describe('deciding grant', () => {
  test('GR6 a folder grant covers everything below, a file grant the file alone, and neither a sibling', () => {
    const file = grant('/a/f.txt', 'read', { kind: 'file' })
    expect(getOutcome([grant('/a', 'read')], '/a/b/c', 'read')).toBe('granted')
    expect(getOutcome([grant('/a', 'read')], '/a', 'read')).toBe('granted')
    expect(getOutcome([grant('/a', 'read')], '/ab', 'read')).toBe('no_grant')
    expect(getOutcome([file], '/a/f.txt', 'read')).toBe('granted')
    for (const path of ['/a', '/a/g.txt', '/a/f.txt/x', '/a/f.txt.bak'])
      expect(getOutcome([file], path, 'read')).toBe('no_grant')
  })

  test('GR6 the most specific grant decides, even if it allows less', () => {
    const grants = [grant('/a', 'read-write'), grant('/a/b', 'read')]
    expect(getOutcome(grants, '/a/x', 'write')).toBe('granted')
    expect(getOutcome(grants, '/a/b/x', 'write')).toBe('read_only_grant')
    expect(getOutcome(grants, '/a/b/x', 'read')).toBe('granted')
  })

  test('GR6 two grants for one path add up', () => {
    const grants = [grant('/a', 'read'), grant('/a', 'write')]
    expect(getOutcome(grants, '/a/x', 'read')).toBe('granted')
    expect(getOutcome(grants, '/a/x', 'create')).toBe('granted')
    expect(getOutcome(grants, '/a/x', 'write')).toBe('read_only_grant')
  })

  test('GR6 a denial overrides more specific grants and is reported', () => {
    const grants = [grant('/a', 'deny'), grant('/a/b', 'read-write')]
    expect(decide(grants, '/a/b/c', 'read')).toMatchObject({
      code: 'no_grant',
      denied: { permission: 'deny' },
    })
    expect(getOutcome([...grants, grant('/c', 'read')], '/c/x', 'read')).toBe('granted')
  })

  test('GR9 write creates new files and nothing else', () => {
    const grants = [grant('/a', 'write')]
    expect(getOutcome(grants, '/a/new', 'create')).toBe('granted')
    for (const need of ['read', 'write', 'delete'] as const)
      expect(getOutcome(grants, '/a/new', need)).toBe('no_grant')
  })

  test('GR6 no grant allows deleting outside of the workspace', () => {
    expect(getOutcome([grant('/a', 'read-write')], '/a/x', 'delete')).toBe('no_grant')
  })

  test('GR5 a session grant covers its session; without a session id the whole run', () => {
    const sessionGrant = (session: string | null) =>
      grant('/a', 'read', { scope: 'session', session })
    expect(getOutcome([sessionGrant('s1')], '/a/x', 'read')).toBe('granted')
    expect(getOutcome([sessionGrant('s2')], '/a/x', 'read')).toBe('no_grant')
    expect(getOutcome([sessionGrant(null)], '/a/x', 'read')).toBe('granted')
  })

  test('GR1 ignores grants of other agents, revoked and expired grants, but not grants for all agents', () => {
    for (const more of [{ agent: 'support' }, { revokedAt: 5 }, { expiresAt: now }])
      expect(getOutcome([grant('/a', 'read', more)], '/a/x', 'read')).toBe('no_grant')
    expect(getOutcome([grant('/a', 'read', { expiresAt: now + 1 })], '/a/x', 'read')).toBe(
      'granted',
    )
    expect(getOutcome([grant('/a', 'read', { agent: '*' })], '/a/x', 'read')).toBe('granted')
  })

  test('GR4 a person has the access of every agent and is bound only by denials for all', () => {
    const grants = [grant('/a', 'read-write'), grant('/a/b', 'read'), grant('/a/c', 'deny')]
    expect(getOutcome(grants, '/a/b/x', 'write', person)).toBe('granted')
    expect(getOutcome(grants, '/a/c/x', 'read', person)).toBe('granted')
    const withGlobalDenial = [...grants, grant('/a/d', 'deny', { agent: '*' })]
    expect(getOutcome(withGlobalDenial, '/a/d/x', 'read', person)).toBe('no_grant')
  })
})

describe('closed subpaths', () => {
  test('GR6 lists denials and narrower grants below a folder', () => {
    const root = grant('/a', 'read-write')
    const grants = [
      root,
      grant('/a/no', 'deny'),
      grant('/a/b/look', 'read'),
      grant('/c/no', 'deny'),
    ]
    const closedFor = (need: AccessKind) =>
      listClosedSubpaths(grants, root, { holder: sales, need, now })
    expect(closedFor('read')).toEqual(['no'])
    expect(closedFor('write')).toEqual(['no', 'b/look'])
  })

  test('GR6 ignores grants that belong to other agents or have ended', () => {
    const root = grant('/a', 'read')
    const grants = [
      root,
      grant('/a/x', 'deny', { agent: 'support' }),
      grant('/a/y', 'deny', { revokedAt: 1 }),
    ]
    expect(listClosedSubpaths(grants, root, { holder: sales, need: 'read', now })).toEqual([])
  })
})

test.each([
  ['nothing closed the path', [], 10],
  ['a denial was revoked', [grant('/a', 'deny', { revokedAt: 30 })], 30],
  ['a denial of a parent was revoked', [grant('/', 'deny', { revokedAt: 30 })], 30],
  [
    'a denial for all agents was revoked',
    [grant('/a/b', 'deny', { agent: '*', revokedAt: 30 })],
    30,
  ],
  ['a denial was revoked earlier', [grant('/a/b', 'deny', { revokedAt: 5 })], 10],
  ['a closing grant expired', [grant('/a/b', 'write', { expiresAt: 20, revokedAt: 30 })], 20],
  ['a more specific grant without read access is active', [grant('/a/b', 'write')], Infinity],
  ['a closing grant had the same path', [grant('/a', 'write', { revokedAt: 30 })], 10],
  ['a denial covered a sibling', [grant('/a/bc', 'deny', { revokedAt: 30 })], 10],
] as const)('GR1 GR6 readable since: %s', (_, closing, since) => {
  expect(readableSince(grant('/a', 'read', { grantedAt: 10 }), '/a/b/c', closing)).toBe(since)
})

test('GR6 creates a root for every active grant and for no denial', () => {
  const grants = [
    grant('/a', 'read'),
    grant('/b', 'write', { hardLinks: true }),
    grant('/c', 'deny'),
    grant('/d', 'read', { expiresAt: now }),
  ]
  expect(toRoots(grants, now)).toMatchObject([
    { path: '/a', access: 'read', hardLinks: false, dev: '1', ino: '2' },
    { path: '/b', access: 'read-write', hardLinks: true },
  ])
})

const paths = ['/a', '/a/b', '/a/b/c', '/a/bc', '/d', '/d/e.txt']
const anyGrant = fc
  .record({
    path: fc.constantFrom(...paths),
    permission: fc.constantFrom('read', 'read-write', 'write', 'deny'),
    kind: fc.constantFrom('file', 'folder'),
    agent: fc.constantFrom('sales', 'support', '*'),
    scope: fc.constantFrom('session', 'permanent'),
    session: fc.constantFrom('s1', 's2'),
    expiresAt: fc.constantFrom(null, now, now + 1),
    revokedAt: fc.constantFrom(null, null, 1),
  } as const)
  .map(({ path, permission, ...overrides }) => grant(path, permission, overrides))
const anyQuery = fc.record({
  path: fc.constantFrom(...paths, '/a/b/x', '/d/e.txt/x', '/e'),
  need: fc.constantFrom('read', 'create', 'write', 'delete'),
} as const)
const grants = fc.array(anyGrant, { maxLength: 6 })

test('GR6 access requires an active grant of the agent that covers the path and allows it', () => {
  const opens: Record<string, AccessKind[]> = {
    read: ['read'],
    'read-write': ['read', 'create', 'write'],
    write: ['create'],
    deny: [],
  }
  fc.assert(
    fc.property(grants, anyQuery, (existing, { path, need }) => {
      const verdict = decide(existing, path, need)
      if (!verdict.grant) return
      const { grant: deciding } = verdict
      expect(existing).toContain(deciding)
      expect(isActive(deciding, now)).toBe(true)
      expect(['sales', '*']).toContain(deciding.agent)
      expect(deciding.scope === 'permanent' || deciding.session === 's1').toBe(true)
      expect(covers(deciding, path)).toBe(true)
      expect(opens[deciding.permission]).toContain(need)
      for (const other of existing.filter((candidate) =>
        appliesTo(candidate, { holder: sales, now }),
      ))
        if (covers(other, path)) expect(other.path.length).toBeLessThanOrEqual(deciding.path.length)
    }),
  )
})

test('GR6 an additional denial opens nothing and closes everything it covers', () => {
  fc.assert(
    fc.property(grants, anyGrant, anyQuery, (existing, extra, { path, need }) => {
      const denial = { ...extra, permission: 'deny' as const }
      const before = decide(existing, path, need)
      const after = decide([...existing, denial], path, need)
      if (appliesTo(denial, { holder: sales, now }) && covers(denial, path))
        expect(after).toMatchObject({ code: 'no_grant', denied: { permission: 'deny' } })
      else expect(after).toEqual(before)
    }),
  )
})

test('GR6 the closed subpaths cover every path that would be refused', () => {
  fc.assert(
    fc.property(grants, fc.constantFrom('read', 'write'), (existing, need) => {
      const { grant: root } = decide(existing, '/a', need)
      if (!root || root.kind === 'file') return
      const closed = listClosedSubpaths(existing, root, { holder: sales, need, now })
      const isClosed = (path: string) =>
        closed.some((subpath) => path === `/a/${subpath}` || path.startsWith(`/a/${subpath}/`))
      const refused = paths.filter(
        (path) => path.startsWith('/a/') && !decide(existing, path, need).grant,
      )
      expect(refused.filter((path) => !isClosed(path))).toEqual([])
    }),
  )
})

const grantsWithStale = fc
  .array(fc.tuple(anyGrant, fc.boolean()), { maxLength: 6 })
  .map((pairs) => ({
    held: pairs.map(([one]) => one),
    dead: new Set(pairs.flatMap(([one, isDead]) => (isDead ? [one] : []))),
  }))

test('PV9 GR6 a stale grant opens nothing and widens no access: both decisions must allow it', () => {
  fc.assert(
    fc.property(grantsWithStale, anyQuery, ({ held, dead }, { path, need }) => {
      for (const holder of [sales, person]) {
        const among = decideWithStaleGrants(held, { holder, path, need, now }, dead)
        const living = held.filter((one) => !dead.has(one))
        const counts = (one: Grant) => appliesTo(one, { holder, now }) && covers(one, path)
        const isLivingAsked = living.some(counts)
        const whole = decide(held, path, need, holder)
        const rest = decide(living, path, need, holder)
        if (among.grant && isLivingAsked) expect(dead.has(among.grant)).toBe(false)
        expect(among.grant !== undefined).toBe(
          whole.grant !== undefined && (!isLivingAsked || rest.grant !== undefined),
        )
      }
    }),
  )
})

test('GR3 a new grant works without its blocking grants, and does not with any of them', () => {
  fc.assert(
    fc.property(grants, anyGrant, anyQuery, (existing, created, { path, need }) => {
      const isOpening = appliesTo(created, { holder: sales, now }) && covers(created, path)
      fc.pre(isOpening && allows(created.permission, need))
      const blocking = findBlockingGrants(existing, created, { holder: sales, path, need, now })
      const rest = existing.filter((one) => !blocking.includes(one))
      const denied = existing.some(
        (one) =>
          one.permission === 'deny' && covers(one, path) && appliesTo(one, { holder: sales, now }),
      )
      expect(decide([...rest, created], path, need).grant === undefined).toBe(denied)
      for (const one of blocking)
        expect(decide([...rest, one, created], path, need).grant).toBeUndefined()
    }),
  )
})

test('GR3 a grant that outlasts another opens everything it opens, at any time and in any session', () => {
  const times = [now - 1, now, now + 1, now + 2]
  fc.assert(
    fc.property(anyGrant, anyGrant, anyQuery, (left, right, { need }) => {
      fc.pre(outlasts(left, right))
      for (const session of ['s1', 's2'])
        for (const at of times) {
          const holder: Holder = { kind: 'agent', agent: 'sales', session }
          const opens = (grant: Grant) => {
            const folderGrant = {
              ...grant,
              agent: 'sales',
              path: '/a',
              kind: 'folder',
              revokedAt: null,
            } as const
            return (
              decideGrant([folderGrant], { holder, path: '/a', need, now: at }).grant !== undefined
            )
          }
          expect(opens(left) || !opens(right)).toBe(true)
        }
    }),
  )
})

test('GR6 lists closed subpaths with slashes, also on Windows', () => {
  const root = grant('C:\\me\\proj', 'read')
  const denied = grant('C:\\me\\proj\\a\\secret', 'deny')
  const closed = listClosedSubpaths([root, denied], root, { holder: sales, need: 'read', now })
  expect(closed).toEqual(['a/secret'])
})
