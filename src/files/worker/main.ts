import { undoUnfinished } from '../ops/in-place.ts'
import { ops } from '../ops/index.ts'
import { dropTemporaries } from '../ops/placing.ts'
import { runWorker } from './run.ts'

runWorker(ops, { begin: undoUnfinished, leave: dropTemporaries })
