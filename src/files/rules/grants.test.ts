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

function grant(path: string, permission: Grant['permission'], more: Partial<Grant> = {}): Grant {
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
    ...more,
  }
}

const decide = (grants: Grant[], path: string, need: AccessKind, holder: Holder = sales) =>
  decideGrant(grants, { holder, path, need, now })
const codeOf = (...given: Parameters<typeof decide>) => {
  const verdict = decide(...given)
  return verdict.grant ? 'granted' : verdict.code
}

describe('which grant counts', () => {
  test('GR6 a folder opens what is below, a file itself alone, and neither a sibling', () => {
    const file = grant('/a/f.txt', 'read', { kind: 'file' })
    expect(codeOf([grant('/a', 'read')], '/a/b/c', 'read')).toBe('granted')
    expect(codeOf([grant('/a', 'read')], '/a', 'read')).toBe('granted')
    expect(codeOf([grant('/a', 'read')], '/ab', 'read')).toBe('no_grant')
    expect(codeOf([file], '/a/f.txt', 'read')).toBe('granted')
    for (const path of ['/a', '/a/g.txt', '/a/f.txt/x', '/a/f.txt.bak'])
      expect(codeOf([file], path, 'read')).toBe('no_grant')
  })

  test('GR6 the most specific wins, also where it allows less', () => {
    const grants = [grant('/a', 'read-write'), grant('/a/b', 'read')]
    expect(codeOf(grants, '/a/x', 'write')).toBe('granted')
    expect(codeOf(grants, '/a/b/x', 'write')).toBe('read_only_grant')
    expect(codeOf(grants, '/a/b/x', 'read')).toBe('granted')
  })

  test('GR6 two grants for one path add up', () => {
    const grants = [grant('/a', 'read'), grant('/a', 'write')]
    expect(codeOf(grants, '/a/x', 'read')).toBe('granted')
    expect(codeOf(grants, '/a/x', 'create')).toBe('granted')
    expect(codeOf(grants, '/a/x', 'write')).toBe('read_only_grant')
  })

  test('GR6 a denial wins over what is more specific, and says that asking is of no use', () => {
    const grants = [grant('/a', 'deny'), grant('/a/b', 'read-write')]
    expect(decide(grants, '/a/b/c', 'read')).toMatchObject({
      code: 'no_grant',
      denied: { permission: 'deny' },
    })
    expect(codeOf([...grants, grant('/c', 'read')], '/c/x', 'read')).toBe('granted')
  })

  test('GR9 write makes new files and nothing else', () => {
    const grants = [grant('/a', 'write')]
    expect(codeOf(grants, '/a/new', 'create')).toBe('granted')
    for (const need of ['read', 'write', 'delete'] as const)
      expect(codeOf(grants, '/a/new', need)).toBe('no_grant')
  })

  test('GR6 nothing outside the workspace is deleted, whatever is granted', () => {
    expect(codeOf([grant('/a', 'read-write')], '/a/x', 'delete')).toBe('no_grant')
  })

  test('GR5 a session grant is for its session; without one for all of this run', () => {
    const ofSession = (session: string | null) => grant('/a', 'read', { scope: 'session', session })
    expect(codeOf([ofSession('s1')], '/a/x', 'read')).toBe('granted')
    expect(codeOf([ofSession('s2')], '/a/x', 'read')).toBe('no_grant')
    expect(codeOf([ofSession(null)], '/a/x', 'read')).toBe('granted')
  })

  test('GR1 others’, revoked and expired grants open nothing; one for all does', () => {
    for (const more of [{ agent: 'support' }, { revokedAt: 5 }, { expiresAt: now }])
      expect(codeOf([grant('/a', 'read', more)], '/a/x', 'read')).toBe('no_grant')
    expect(codeOf([grant('/a', 'read', { expiresAt: now + 1 })], '/a/x', 'read')).toBe('granted')
    expect(codeOf([grant('/a', 'read', { agent: '*' })], '/a/x', 'read')).toBe('granted')
  })

  test('GR4 a person sees what any agent may see, and is bound by denials for all only', () => {
    const grants = [grant('/a', 'read-write'), grant('/a/b', 'read'), grant('/a/c', 'deny')]
    expect(codeOf(grants, '/a/b/x', 'write', person)).toBe('granted')
    expect(codeOf(grants, '/a/c/x', 'read', person)).toBe('granted')
    const forAll = [...grants, grant('/a/d', 'deny', { agent: '*' })]
    expect(codeOf(forAll, '/a/d/x', 'read', person)).toBe('no_grant')
  })
})

describe('what stays closed below', () => {
  test('GR6 denials and narrower grants below a folder are told to the walk', () => {
    const root = grant('/a', 'read-write')
    const grants = [
      root,
      grant('/a/no', 'deny'),
      grant('/a/b/look', 'read'),
      grant('/c/no', 'deny'),
    ]
    const below = (need: AccessKind) =>
      listClosedSubpaths(grants, root, { holder: sales, need, now })
    expect(below('read')).toEqual(['no'])
    expect(below('write')).toEqual(['no', 'b/look'])
  })

  test('GR6 what is for others, or over, closes nothing', () => {
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
  ['nothing closed it', [], 10],
  ['a denial was lifted', [grant('/a', 'deny', { revokedAt: 30 })], 30],
  ['one from further up was lifted', [grant('/', 'deny', { revokedAt: 30 })], 30],
  ['one for all was lifted', [grant('/a/b', 'deny', { agent: '*', revokedAt: 30 })], 30],
  ['it was lifted before', [grant('/a/b', 'deny', { revokedAt: 5 })], 10],
  ['it was over by its time', [grant('/a/b', 'write', { expiresAt: 20, revokedAt: 30 })], 20],
  ['a nearer one that reads nothing is there', [grant('/a/b', 'write')], Infinity],
  ['one that is no nearer was there', [grant('/a', 'write', { revokedAt: 30 })], 10],
  ['a denial was beside it', [grant('/a/bc', 'deny', { revokedAt: 30 })], 10],
] as const)('GR1 GR6 since when a path could be read: %s', (_, closing, since) => {
  expect(readableSince(grant('/a', 'read', { grantedAt: 10 }), '/a/b/c', closing)).toBe(since)
})

test('GR6 the worker holds every live grant and no denial', () => {
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
  .map(({ path, permission, ...more }) => grant(path, permission, more))
const asked = fc.record({
  path: fc.constantFrom(...paths, '/a/b/x', '/d/e.txt/x', '/e'),
  need: fc.constantFrom('read', 'create', 'write', 'delete'),
} as const)
const grants = fc.array(anyGrant, { maxLength: 6 })

test('GR6 nothing is let through but by a live grant of that agent that covers it and allows it', () => {
  const opens: Record<string, AccessKind[]> = {
    read: ['read'],
    'read-write': ['read', 'create', 'write'],
    write: ['create'],
    deny: [],
  }
  fc.assert(
    fc.property(grants, asked, (held, { path, need }) => {
      const verdict = decide(held, path, need)
      if (!verdict.grant) return
      const { grant: found } = verdict
      expect(held).toContain(found)
      expect(isActive(found, now)).toBe(true)
      expect(['sales', '*']).toContain(found.agent)
      expect(found.scope === 'permanent' || found.session === 's1').toBe(true)
      expect(covers(found, path)).toBe(true)
      expect(opens[found.permission]).toContain(need)
      for (const other of held.filter((one) => appliesTo(one, { holder: sales, now })))
        if (covers(other, path)) expect(other.path.length).toBeLessThanOrEqual(found.path.length)
    }),
  )
})

test('GR6 one more denial never opens anything, and closes all that it covers', () => {
  fc.assert(
    fc.property(grants, anyGrant, asked, (held, more, { path, need }) => {
      const denial = { ...more, permission: 'deny' as const }
      const before = decide(held, path, need)
      const after = decide([...held, denial], path, need)
      if (appliesTo(denial, { holder: sales, now }) && covers(denial, path))
        expect(after).toMatchObject({ code: 'no_grant', denied: { permission: 'deny' } })
      else expect(after).toEqual(before)
    }),
  )
})

test('GR6 a walk below a grant is told to leave out all that would be refused there', () => {
  fc.assert(
    fc.property(grants, fc.constantFrom('read', 'write'), (held, need) => {
      const { grant: root } = decide(held, '/a', need)
      if (!root || root.kind === 'file') return
      const closed = listClosedSubpaths(held, root, { holder: sales, need, now })
      const isLeftOut = (path: string) =>
        closed.some((one) => path === `/a/${one}` || path.startsWith(`/a/${one}/`))
      const refused = paths.filter(
        (path) => path.startsWith('/a/') && !decide(held, path, need).grant,
      )
      expect(refused.filter((path) => !isLeftOut(path))).toEqual([])
    }),
  )
})

const someDead = fc.array(fc.tuple(anyGrant, fc.boolean()), { maxLength: 6 }).map((pairs) => ({
  held: pairs.map(([one]) => one),
  dead: new Set(pairs.flatMap(([one, isDead]) => (isDead ? [one] : []))),
}))

test('PV9 GR6 what is dead opens nothing and nobody gains by it: both rules must let it through', () => {
  fc.assert(
    fc.property(someDead, asked, ({ held, dead }, { path, need }) => {
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

test('GR3 without what is in its way a grant opens what it is made for, and with any of it not', () => {
  fc.assert(
    fc.property(grants, anyGrant, asked, (held, made, { path, need }) => {
      const isOpening = appliesTo(made, { holder: sales, now }) && covers(made, path)
      fc.pre(isOpening && allows(made.permission, need))
      const narrower = findBlockingGrants(held, made, { holder: sales, path, need, now })
      const rest = held.filter((one) => !narrower.includes(one))
      const denied = held.some(
        (one) =>
          one.permission === 'deny' && covers(one, path) && appliesTo(one, { holder: sales, now }),
      )
      expect(decide([...rest, made], path, need).grant === undefined).toBe(denied)
      for (const one of narrower)
        expect(decide([...rest, one, made], path, need).grant).toBeUndefined()
    }),
  )
})

test('GR3 what outlasts another opens all that it does, whenever and to whichever session', () => {
  const moments = [now - 1, now, now + 1, now + 2]
  fc.assert(
    fc.property(anyGrant, anyGrant, asked, (one, other, { need }) => {
      fc.pre(outlasts(one, other))
      for (const session of ['s1', 's2'])
        for (const at of moments) {
          const holder: Holder = { kind: 'agent', agent: 'sales', session }
          const opens = (grant: Grant) => {
            const it = {
              ...grant,
              agent: 'sales',
              path: '/a',
              kind: 'folder',
              revokedAt: null,
            } as const
            return decideGrant([it], { holder, path: '/a', need, now: at }).grant !== undefined
          }
          expect(opens(one) || !opens(other)).toBe(true)
        }
    }),
  )
})

test('GR6 what is closed below a grant is named with slashes, also on Windows', () => {
  const root = grant('C:\\me\\proj', 'read')
  const denied = grant('C:\\me\\proj\\a\\secret', 'deny')
  const closed = listClosedSubpaths([root, denied], root, { holder: sales, need: 'read', now })
  expect(closed).toEqual(['a/secret'])
})
