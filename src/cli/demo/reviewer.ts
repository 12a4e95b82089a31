import { CoworkError } from '#base/errors.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'

/** The person who decides in the demo: nothing is decided in the name of whoever runs it (K7). */
const reviewerName = 'Demo reviewer'

/** Adds the reviewer and signs in as them; undefined where that takes the owner's passkey. */
export async function addReviewer(context: Context, owner: Client): Promise<Client | undefined> {
  try {
    const invited = { name: reviewerName, role: 'reviewer' }
    const { link } = await owner.call('cowork_invite_person', invited)
    const code = link.slice(link.lastIndexOf('=') + 1)
    const { token } = await owner.post('/api/sessions', { code })
    return createClient(context, {}, token)
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'passkey_required') return undefined
    throw error
  }
}

/** Removes the reviewer: sessions and invitations end, so nobody signs in as them afterwards. */
export async function removeReviewer(owner: Client): Promise<number> {
  const { people, invitations } = await owner.call('cowork_list_people')
  const open = invitations.filter(({ name }) => name === reviewerName)
  const active = people.filter(({ name, status }) => name === reviewerName && status === 'active')
  for (const { id } of open) await owner.call('cowork_withdraw_invitation', { invitation: id })
  for (const { id } of active) await owner.call('cowork_remove_person', { person: id })
  return open.length + active.length
}
