import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import type { Doorkeeper } from '../doorkeeper.ts'
import { createLinks } from './links.ts'
import { createRoster } from './roster.ts'
import { createPersonSessions } from './sessions.ts'
import type { PeopleStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: PeopleStore
  readonly doorkeeper: Doorkeeper
  readonly now: Clock
  readonly log: Log
  readonly consoleUrl: () => string
  readonly forgetPasskeys: (tx: Tx, person: string) => Promise<unknown>
}

/** Who the people are, and how they come in. */
export function createPeople({ consoleUrl, forgetPasskeys, ...deps }: Deps) {
  const makeLink = createLinks({ ...deps, consoleUrl })
  return {
    ...createRoster({ ...deps, makeLink, forgetPasskeys }),
    ...createPersonSessions({ ...deps, makeLink }),
  }
}
