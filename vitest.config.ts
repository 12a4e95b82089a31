import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    coverage: { include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/**/*.test.ts',
            'scripts/**/*.test.ts',
            'web/src/**/*.test.ts',
          ],
          exclude: ['**/*.int.test.ts', 'test/browser/**'],
          isolate: false,
        },
      },
      {
        // Processes, sockets and PostgreSQL: one file per fork, so that nothing leaks between them.
        test: {
          name: 'integration',
          include: ['src/**/*.int.test.ts', 'test/**/*.int.test.ts'],
          pool: 'forks',
          globalSetup: ['test/postgres.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // One Chromium at a time: a second one would only take the cores of the first.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 1,
          isolate: false,
          globalSetup: ['test/browser/setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 10_000, interval: 20 } },
        },
      },
    ],
  },
})
