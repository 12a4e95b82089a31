import * as z from 'zod'
import {
  duration,
  filePath,
  port,
  secretText,
  nonEmptyString,
  integer,
} from '#base/config/field-types.ts'

const work = z
  .strictObject({
    data_root: filePath
      .default('~/.worksync')
      .describe('Folder of the work data: registry, projects, guidance. Default ~/.worksync.'),
    vault_path: filePath
      .optional()
      .describe('Folder of the generated Obsidian vault. Default vault in the data root.'),
    listen: z
      .boolean()
      .default(false)
      .describe('Open a second listener that serves only the work tools at /mcp. Default false.'),
    host: nonEmptyString('a host name or address', /^[\w.:%[\]-]+$/)
      .default('127.0.0.1')
      .describe('Address of the second listener. Default 127.0.0.1.'),
    port: port.default(8321).describe('Port of the second listener. Default 8321.'),
    api_key: secretText
      .optional()
      .describe('Shared key accepted for the work tools, preferably a reference. Default: none.'),
    auto_sync: z
      .boolean()
      .default(true)
      .describe('Regenerate the vault after changes. Default true.'),
    sync_debounce: duration
      .prefault('2s')
      .describe('Delay after the last change before the vault is regenerated. Default 2s.'),
    lease_ttl: duration
      .prefault('15m')
      .describe('Time until a claim expires without a heartbeat. Default 15m.'),
    reserved_paths: z
      .enum(['warn', 'refuse'])
      .default('warn')
      .describe(
        'Warn or refuse when another agent writes to the paths of a claimed story. Default warn.',
      ),
  })
  .prefault({})
  .describe('Projects, sprints, stories and backlog.')

const jobs = z
  .strictObject({
    auto_approve: z
      .boolean()
      .default(false)
      .describe('Approve low-risk plans of trusted agents without a person. Default false.'),
    bulk_limit: integer(1)
      .default(100)
      .describe('Plans that move or delete more items than this are high risk. Default 100.'),
    lease_seconds: integer(3, 3600)
      .default(30)
      .describe(
        'Time until the lease of a job expires without a heartbeat, in seconds. Default 30.',
      ),
    on_stale: z
      .enum(['stop', 'skip'])
      .default('stop')
      .describe('Stop the job or skip the step if its file changed since planning. Default stop.'),
  })
  .prefault({})
  .describe('Plans and their execution.')

export const workConfig = { work, jobs }
