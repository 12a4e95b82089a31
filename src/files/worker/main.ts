import { ops } from '../ops/index.ts'
import { runWorker } from './run.ts'

runWorker(ops)
