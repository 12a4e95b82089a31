import * as z from 'zod'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Governance } from '../service.ts'
import { approvalId } from './shared-schemas.ts'
import { decisionResults } from '../wire/decisions.ts'

export const permissionTools = ({ permissions, db }: Governance): Tool[] => [
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_permissions',
    title: 'Permissions',
    description: 'List the standing permissions.',
    input: z.object({}),
    output: decisionResults.cowork_list_permissions,
    read: async () => ({ permissions: await permissions.list(db) }),
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_revoke_permission',
    title: 'Revoke a permission',
    description: 'Revoke a standing permission: the next matching call needs approval again.',
    input: z.object({ id: approvalId }),
    output: decisionResults.cowork_revoke_permission,
    async transact(tx, { id }, call) {
      await permissions.revoke(tx, id, call)
      return { id, revoked: true as const }
    },
  }),
]
