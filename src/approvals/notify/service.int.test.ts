import { inject } from 'vitest'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { createTestDatabase } from '../../../test/databases.ts'
import { checkpointContract } from '../../../test/approvals/notify/checkpoint.contract.ts'
import { notifyContract } from '../../../test/approvals/notify/notify.contract.ts'
import type { Engine } from '../../../test/approvals/notify/service.fixture.ts'
import { timingContract } from '../../../test/approvals/notify/schedule.contract.ts'
import { telegramContract } from '../../../test/approvals/notify/telegram/telegram.contract.ts'

const engine: Engine = {
  dialect: 'postgres',
  async create() {
    const url = await createTestDatabase(inject('postgresUrl'))
    return { open: (sealer) => openPostgres({ url, sealer, log: silentLog }), daemons: 2 }
  },
}

notifyContract(engine)
checkpointContract(engine)
timingContract(engine)
telegramContract(engine)
