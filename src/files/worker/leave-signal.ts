/** It is to go at once, and leave nothing unfinished behind. Elsewhere there is no such signal, and it is killed. */
export const leaveSignal = process.platform === 'win32' ? 'SIGKILL' : 'SIGUSR2'
