import type { ErrorRow } from '#base/errors.ts'

/** The error codes of commands; no HTTP response uses them (0038). */
export const cliErrors = {
  usage: { exit: 'usage' },
  failed: { exit: 'failed' },
  declined: { exit: 'failed' },
  ambiguous_id: { exit: 'usage' },
  owner_token_unsafe: { exit: 'auth' },
  daemon_not_running: { exit: 'notRunning' },
  daemon_failed: { exit: 'failed' },
  daemon_not_ours: { exit: 'failed' },
  daemon_outdated: { exit: 'failed' },
  version_mismatch: { exit: 'failed' },
  not_listening: { exit: 'failed' },
  state_damaged: { exit: 'failed' },
  state_in_the_way: { exit: 'failed' },
  not_a_backup: { exit: 'failed' },
  backup_is_newer: { exit: 'failed' },
  not_a_store: { exit: 'failed' },
  store_damaged: { exit: 'failed' },
  store_not_empty: { exit: 'failed' },
  copy_failed: { exit: 'failed' },
  ledger_broken: { exit: 'failed' },
  ledger_unreadable: { exit: 'failed' },
  nothing_to_accept: { exit: 'failed' },
  nothing_to_forgive: { exit: 'failed' },
  client_config_broken: { exit: 'failed' },
  client_config_changed: { exit: 'failed' },
  client_config_unusable: { exit: 'failed' },
  handshake_failed: { exit: 'failed' },
  service_failed: { exit: 'failed' },
  service_unavailable: { exit: 'failed' },
  editor_failed: { exit: 'failed' },
  demo_blocked: { exit: 'failed' },
  demo_failed: { exit: 'failed' },
} as const satisfies Readonly<Record<string, Pick<ErrorRow, 'exit'>>>

type Declared = typeof cliErrors

declare module '#base/errors.ts' {
  interface ErrorCodes extends Declared {}
}
