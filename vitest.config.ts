import { defineConfig } from 'vitest/config'
import { wireShapes } from './web/wire-shapes.ts'

// Generous: a busy machine is slow, and only what hangs should fail for it.
const steady = { testTimeout: 60_000, hookTimeout: 60_000, setupFiles: ['test/seed.ts'] }
const poll = { expect: { poll: { timeout: 10_000, interval: 20 } } }

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
          // The default leaves one core idle, which is half of two.
          maxWorkers: '100%',
          isolate: false,
          globalSetup: ['test/temp.ts'],
          ...steady,
          ...poll,
        },
      },
      {
        // Parts of the console, in a DOM without a browser.
        plugins: [wireShapes],
        test: {
          name: 'component',
          include: ['web/src/**/*.test.tsx'],
          environment: 'happy-dom',
          ...steady,
          ...poll,
        },
      },
      {
        // Processes, sockets and PostgreSQL. They often wait for each other, so that four files at once keep two cores
        // busy. Files share a process: loading the sources for each took 0.6 s of CPU time.
        test: {
          name: 'integration',
          include: ['src/**/*.int.test.ts', 'test/**/*.int.test.ts'],
          pool: 'forks',
          maxWorkers: 4,
          isolate: false,
          globalSetup: ['test/temp.ts', 'test/postgres.ts'],
          ...steady,
          ...poll,
        },
      },
      {
        // Each worker has one Chromium and is the process of the system under test. They wait for pages most of the time.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 3,
          isolate: false,
          globalSetup: ['test/temp.ts', 'test/browser/setup.ts'],
          ...steady,
          ...poll,
        },
      },
    ],
  },
})
