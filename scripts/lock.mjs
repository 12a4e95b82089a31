// Fails if package-lock.json would not install on another platform or from another registry.
import { readFileSync } from 'node:fs'
import { lockFaults } from './lock-rules.ts'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const faults = lockFaults(lock)
for (const fault of faults) console.log(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`${Object.keys(lock.packages).length - 1} locked packages are complete.`)
