import type { Caller } from '#base/caller.ts'
import { atApi, createUse, setup } from '../identity.fixture.ts'
import type { Setup } from '../identity.fixture.ts'

export type Signed = {
  readonly token: string
  readonly session: string
  /** Authenticates a token. */
  caller(): Promise<Caller>
}

type Link = { link: string; expires_at: string }

export const parseCode = (link: string): string => /#(?:code|invite)=(.*)$/.exec(link)?.[1] ?? ''

/** An identity service with helpers to invite people, sign them in and act as them. */
export async function setupPeople(given: Setup = {}) {
  const parts = await setup(given)
  const { identity, db } = parts
  const use = createUse(identity, db)

  async function signIn(link: string, userAgent = 'Firefox'): Promise<Signed> {
    const given = { code: parseCode(link), address: '127.0.0.1', userAgent }
    const { token, session } = await identity.people.signIn(given)
    const caller = () => identity.identify({ ...atApi, bearer: token })
    return { token, session: session.id, caller }
  }
  const openLink = (by?: Caller) => use('cowork_open_link', {}, by) as Promise<Link>
  const invite = (name: string, role = 'reviewer', by?: Caller) =>
    use('cowork_invite_person', { name, role }, by) as Promise<Link & { id: string }>

  return {
    ...parts,
    use,
    signIn,
    openLink,
    invite,
    join: async (name: string, role?: string) => signIn((await invite(name, role)).link),
    people: () =>
      use('cowork_list_people', {}) as Promise<{
        people: { id: string; name: string; role: string; status: string; sessions: number }[]
        invitations: { id: string; name: string; invited_by: string }[]
      }>,
    sessions: async (by?: Caller) =>
      (
        (await use('cowork_list_sessions', {}, by)) as {
          sessions: Record<string, unknown>[]
        }
      ).sessions,
  }
}
