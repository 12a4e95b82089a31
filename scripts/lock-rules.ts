// Finds entries of the lock file that `npm ci` would refuse on another machine.
type LockedPackage = { resolved?: string; optionalDependencies?: Record<string, string> }
export type LockFile = { packages: Record<string, LockedPackage> }

/**
 * New releases may reach the registry before their platform packages. `npm install` leaves missing ones out of the
 * lock, and `npm ci` then fails elsewhere.
 */
export function lockFaults({ packages }: LockFile): string[] {
  const faults: string[] = []
  for (const [path, entry] of Object.entries(packages)) {
    const name = path === '' ? 'package.json' : path
    for (const dependency of Object.keys(entry.optionalDependencies ?? {})) {
      if (!places(path, dependency).some((place) => place in packages)) {
        faults.push(`${dependency} of ${name} is not in the lock: use a complete release.`)
      }
    }
    if (entry.resolved && URL.canParse(entry.resolved)) {
      faults.push(
        `${name} has a registry URL, ${entry.resolved}: lock with omit-lockfile-registry-resolved.`,
      )
    }
  }
  return faults
}

/** Lists where Node looks for a dependency of the package at `path`, nearest first. */
function places(path: string, dependency: string): string[] {
  const nearest = `${path === '' ? '' : `${path}/`}node_modules/${dependency}`
  if (path === '') return [nearest]
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1))
  return [nearest, ...places(parent, dependency)]
}
