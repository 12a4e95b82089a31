import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    coverage: { include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/*.int.test.ts'],
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
    ],
  },
})
