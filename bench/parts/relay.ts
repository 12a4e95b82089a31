// A process that only relays another: the cost of one more process.
import { spawn } from 'node:child_process'

const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
