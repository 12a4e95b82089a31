import { checkpointContract } from './checkpoint-contract.ts'
import { notifyContract } from './contract.ts'
import { migrations } from './service-fixture.ts'
import type { Engine } from './service-fixture.ts'
import { timingContract } from './timing-contract.ts'
import { telegramContract } from './telegram/contract.ts'
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
