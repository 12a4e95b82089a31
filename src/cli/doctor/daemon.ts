import { createServer } from 'node:net'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import type { Settings } from '../settings.ts'
import { version } from '../version.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

export async function checkDaemon(context: Context): Promise<Finding[]> {
  const daemon = runningDaemon(context.paths)
  if (!daemon)
    return [warn('daemon', `None runs on ${context.paths.dir}.`, 'Start one with `cowork up -d`.')]
  const { auth, halts } = await createClient(context).call('cowork_status')
  const told = `cowork ${daemon.version} runs (process ${daemon.pid}, port ${daemon.port}, ${auth} mode)`
  return [
    daemon.version === version()
      ? ok('daemon', told)
      : warn('daemon', `${told}, this program is ${version()}`, 'Run `cowork restart`.'),
    ...halts.map(({ scope, by }) =>
      warn('halt', `${scope} is halted by ${by}.`, `\`cowork resume ${scope}\` lifts it.`),
    ),
  ]
}

/** Ours when the daemon runs, else free: on both loopbacks, or a browser could end up at a stranger's (SV20). */
export async function checkPort({ paths }: Context, { config }: Settings): Promise<Finding[]> {
  const daemon = runningDaemon(paths)
  const { port, tls } = config.server
  if (daemon) {
    const url = `${tls ? 'https' : 'http'}://localhost:${daemon.port}/readyz`
    const answer = tls ? undefined : await fetch(url, { signal: AbortSignal.timeout(5000) })
    if (answer && !answer.ok)
      return [fail('port', `${url} answers ${answer.status}.`, 'Look into `cowork logs`.')]
    return port === daemon.port || port === 0
      ? [ok('port', `${daemon.port} is the daemon's`)]
      : [
          warn(
            'port',
            `The daemon is on ${daemon.port}, the configuration says ${port}.`,
            '`cowork restart` takes the configured one if it is free, unless PORT says otherwise.',
          ),
        ]
  }
  const taken = []
  for (const address of ['127.0.0.1', '::1']) if (await isTaken(port, address)) taken.push(address)
  return taken.length === 0
    ? [ok('port', `${port} is free`)]
    : [
        fail(
          'port',
          `Another program listens on port ${port} of ${taken.join(' and ')}.`,
          'End it, or set another server.port.',
        ),
      ]
}

function isTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error && error.code === 'EADDRINUSE'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)))
  })
}

export function checkBind({ config }: Settings): Finding[] {
  const { host, tls, insecure_bind: insecure } = config.server
  if (['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase()))
    return [ok('bind', `${host}: this machine only`)]
  if (tls) return [ok('bind', `${host} with TLS`)]
  return insecure
    ? [
        warn(
          'bind',
          `${host} without TLS: whoever is on the way can read tokens.`,
          'Set server.tls, unless only a container’s network can reach it.',
        ),
      ]
    : [
        fail(
          'bind',
          `${host} is not this machine alone, and there is no server.tls: start is refused.`,
          'Set server.tls, or server.host to localhost.',
        ),
      ]
}
