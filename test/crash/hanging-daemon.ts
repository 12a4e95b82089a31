// A daemon for tests that kill it: `node hanging-daemon.ts <state> <log> [<storage url>]`.
import { startTestApp } from '../app.ts'
import { hangingTool } from './hanging-tool.ts'

const [state = '', log = '', storage] = process.argv.slice(2)
const noTasks = {
  get: () => Promise.resolve(undefined),
  update: () => Promise.resolve(false),
  cancel: () => Promise.resolve(false),
}
const app = await startTestApp(storage === undefined ? {} : { 'storage.url': storage }, {
  state,
  fixture: { tools: [hangingTool(log)], features: [], tasks: noTasks },
})
process.stdout.write(`${JSON.stringify({ url: app.url, owner: app.owner })}\n`)
