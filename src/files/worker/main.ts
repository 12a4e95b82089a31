import { rollBackUnfinished } from '../ops/in-place.ts'
import { ops } from '../ops/index.ts'
import { removeTempFiles } from '../ops/atomic-publish.ts'
import { runWorker } from './run.ts'

runWorker(ops, { onStart: rollBackUnfinished, onShutdown: removeTempFiles })
