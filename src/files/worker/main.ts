import { undoUnfinished } from '../ops/in-place-notes.ts'
import { ops } from '../ops/index.ts'
import { runWorker } from './run.ts'

runWorker(ops, undoUnfinished)
