import * as z from 'zod'

const time = z.iso.datetime()

const selection = {
  tools: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
}

const minted = {
  id: z.string(),
  token: z.string().describe('Shown once; only its hash is stored'),
  hash: z.string().describe('SHA-256 of the token in hex'),
  message: z.string(),
}

const listedAgent = z.object({
  id: z.string(),
  source: z.enum(['config', 'store', 'environment']),
  status: z.enum(['active', 'revoked']),
  scopes: z.array(z.string()),
  ...selection,
  created_at: time.optional(),
  last_seen_at: time.optional().describe('Since this daemon started'),
  credentials: z.array(
    z.object({
      hash_prefix: z.string(),
      created_at: time.optional(),
      expires_at: time.optional(),
    }),
  ),
})
export type AgentResult = z.output<typeof listedAgent>

const roles = ['owner', 'reviewer', 'viewer'] as const
export const role = z
  .enum(roles)
  .describe('owner: all rights; reviewer: decides and halts; viewer: reads')

const link = { link: z.string().describe('Single-use link'), expires_at: time }

const listedPerson = z.object({
  id: z.string(),
  name: z.string(),
  role,
  status: z.enum(['active', 'removed']),
  joined_at: time,
  removed_at: time.optional(),
  last_seen_at: time.optional().describe('In an active session'),
  sessions: z.number().int().describe('Number of active sessions'),
})
export type PersonResult = z.output<typeof listedPerson>

const listedInvitation = z.object({
  id: z.string(),
  name: z.string(),
  role,
  invited_by: z.string(),
  created_at: time,
  expires_at: time,
})
export type InvitationResult = z.output<typeof listedInvitation>

const listedSession = z.object({
  id: z.string(),
  person: z.string(),
  name: z.string(),
  user_agent: z.string().describe('User-Agent header of the browser'),
  created_at: time,
  last_seen_at: time,
  expires_at: time.describe('Extended by each use'),
  current: z.boolean().describe('Whether it is the session of this call'),
})

const listedPasskey = z.object({
  id: z.string(),
  person: z.string(),
  name: z.string(),
  created_at: time,
  last_used_at: time.optional(),
})

export const identityResults = {
  cowork_add_agent: z.object({ ...minted, auth_enabled: z.boolean() }),
  cowork_list_agents: z.object({ agents: z.array(listedAgent) }),
  cowork_set_tools: z.object({ id: z.string(), ...selection, message: z.string() }),
  cowork_rotate_agent: z.object({ ...minted, old_token_ends_at: time }),
  cowork_revoke_agent: z.object({ id: z.string(), revoked_at: time, message: z.string() }),
  cowork_open_link: z.object(link),
  cowork_list_people: z.object({
    people: z.array(listedPerson),
    invitations: z.array(listedInvitation),
  }),
  cowork_invite_person: z.object({ id: z.string().describe('Id of the invitation'), ...link }),
  cowork_withdraw_invitation: z.object({ id: z.string(), name: z.string() }),
  cowork_set_role: z.object({ id: z.string(), name: z.string(), role }),
  cowork_remove_person: z.object({ id: z.string(), name: z.string(), removed_at: time }),
  cowork_list_sessions: z.object({ sessions: z.array(listedSession) }),
  cowork_revoke_session: z.object({ id: z.string(), ended_at: time }),
  cowork_list_passkeys: z.object({ passkeys: z.array(listedPasskey) }),
  cowork_remove_passkey: z.object({ id: z.string(), name: z.string() }),
}

const person = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
})
const session = z.object({ id: z.string(), person, created_at: time, expires_at: time })

export const identityAnswers = {
  'POST /api/sessions': z.object({ token: z.string().describe('Shown once'), session }),
  'GET /api/session': z.object({
    person,
    session: session.optional().describe("Absent for the owner's token"),
    has_passkey: z.boolean(),
    assured_until: time
      .optional()
      .describe('End of the passkey confirmation for high-risk decisions'),
    command: z
      .array(z.string())
      .optional()
      .describe('For the owner: the command that runs `cowork` on this machine'),
    home: z.string().optional().describe('Home folder of the user that runs the daemon'),
  }),
  'DELETE /api/session': z.object({ ended: z.boolean() }),
  'POST /api/passkeys/challenge': z.object({
    challenge: z.string().describe('base64url'),
    rp_id: z.string(),
    user: z.object({
      id: z.string().describe('base64url'),
      name: z.string(),
      display_name: z.string(),
    }),
    algorithms: z.array(z.int()).describe('COSE algorithm numbers, preferred first'),
    allow: z.array(z.string()).describe('Credential ids of your passkeys'),
    expires_at: time,
  }),
  'POST /api/passkeys': z.object({ id: z.string(), name: z.string(), created_at: time }),
  'POST /api/passkeys/assert': z.object({ assured_until: time }),
}
