import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Governance } from '../service.ts'
import { approvalId } from './words.ts'

const permission = z.object({
  id: z.string(),
  agent_id: z.string(),
  tool: z.string(),
  arguments: z
    .record(z.string(), z.string())
    .nullable()
    .describe('A glob for each argument that may change; null where none may'),
  exact: z.array(z.string()).describe('Arguments that are as they were approved'),
  for: z.string(),
  uses_left: z.number().nullable(),
  session: z.string().nullable(),
  expires_at: z.string().nullable(),
  granted_by: z.string(),
  granted_at: z.string(),
  last_used_at: z.string().nullable(),
})

export const listPermissionsTool = ({ permissions, db }: Governance) =>
  defineTool({
    name: 'cowork_list_permissions',
    title: 'Permissions',
    description: 'What people have allowed for longer than once.',
    toolset: 'cowork',
    effect: 'read',
    by: 'human',
    input: z.object({}),
    output: z.object({ permissions: z.array(permission) }),
    run: async () => ({ permissions: await permissions.list(db) }),
  })

export const revokePermissionTool = ({ permissions }: Governance) =>
  defineTool({
    name: 'cowork_revoke_permission',
    title: 'Revoke a permission',
    description: 'Take back a standing permission: the next such call asks again.',
    toolset: 'cowork',
    effect: 'write',
    by: 'human',
    input: z.object({ id: approvalId }),
    output: z.object({ id: z.string(), revoked: z.literal(true) }),
    async change(tx, { id }, call) {
      await permissions.revoke(tx, id, call)
      return { id, revoked: true as const }
    },
  })
