import { expect, test } from 'vitest'
import { readRegistry, removeProject, addProject } from './registry.ts'

const text = `# projects of this machine
vault_path: ~/vault   # Obsidian
projects:
  # the first
  alpha:
    repo: ~/src/alpha     # checked out here
    description: First
    guidance:
      inherit: [general]
      project:
        - {name: style, source: repo, path: docs/STYLE.md}

  beta: {repo: ~/src/beta}
settings:
  auto_sync: true
`

const projectsOf = (given: string) => {
  const read = readRegistry(given)
  return read.ok ? Object.keys(read.registry.projects) : read.problems
}

test('W11 the registry lists projects with repositories and guidance', () => {
  const read = readRegistry(text)
  expect(read.ok && read.registry).toMatchObject({
    vaultPath: '~/vault',
    projects: { alpha: { description: 'First', guidance: { inherit: ['general'] } }, beta: {} },
  })
})

test('W4 adding and removing a project keeps all other lines', () => {
  const grown = addProject(text, 'gamma', { repo: '/src/gamma', description: 'Third: one' })
  expect(projectsOf(grown)).toEqual(['alpha', 'beta', 'gamma'])
  expect(removeProject(grown, 'gamma')).toBe(text)
  const without = removeProject(text, 'alpha')
  expect(projectsOf(without)).toEqual(['beta'])
  expect(without).toContain('vault_path: ~/vault   # Obsidian\nprojects:\n')
  expect(without).toContain('settings:\n  auto_sync: true\n')
})

test.each([
  ['', []],
  ['projects:\n', []],
  ['projects: {}\n', []],
  ['settings: {}', []],
])('W11 a registry with %j accepts its first project', (given) => {
  const grown = addProject(given, 'one', { description: 'x' })
  expect(projectsOf(grown)).toEqual(['one'])
  expect(projectsOf(removeProject(grown, 'one'))).toEqual([])
})

test('W6 an invalid registry is reported with its position', () => {
  expect(readRegistry('projects: [')).toMatchObject({ ok: false, problems: [{ line: 1 }] })
  expect(readRegistry('projects: {a: {repo: 3}}').ok).toBe(false)
})
