import { checkpointContract } from '../../../test/approvals/notify/checkpoint.contract.ts'
import { notifyContract } from '../../../test/approvals/notify/notify.contract.ts'
import { migrations } from '../../../test/approvals/notify/service.fixture.ts'
import type { Engine } from '../../../test/approvals/notify/service.fixture.ts'
import { timingContract } from '../../../test/approvals/notify/schedule.contract.ts'
import { telegramContract } from '../../../test/approvals/notify/telegram/telegram.contract.ts'
import { openMigrated, storePath } from '../../../test/stores.ts'

const engine: Engine = {
  dialect: 'sqlite',
  async create() {
    const path = storePath()
    return { open: (sealer) => openMigrated(path, sealer, migrations), daemons: 1 }
  },
}

notifyContract(engine)
checkpointContract(engine)
timingContract(engine)
telegramContract(engine)
