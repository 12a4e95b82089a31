// A process that does nothing but hand on what another says: what one more of them costs anybody.
import { spawn } from 'node:child_process'

const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
