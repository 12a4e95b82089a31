/** Default guidance of a new data root (W25). */
export const guidanceTexts: Readonly<Record<string, string>> = {
  general: `# General

- Read the code around your change first, and follow its style.
- One change, one purpose. Say why in the commit message.
- Every change of behavior comes with a test that fails without it.
- Errors name what failed and what to do next. Never swallow an error.
- Delete unused code. Leave the code cleaner than you found it.
`,
  golang: `# Go

- \`gofmt\`, \`go vet\` and the race detector are part of every run.
- Return errors, wrapped with what was being done; panic only for bugs.
- Accept interfaces, return structs. Keep interfaces small and near their user.
- Pass the context as the first argument. Every goroutine must end.
- Write table-driven tests. Fake only your own types; use real dependencies otherwise.
`,
  typescript: `# TypeScript

- Strict mode, no \`any\`, no unchecked index access. Validate input at the boundary.
- Prefer unions to flags, and plain objects to classes.
- Named exports, small modules, no cycles.
- Await or handle every promise. Cancel with AbortSignal.
- Test behavior through the public API, with real dependencies where possible.
`,
  'ai-collaboration': `# Working together

- Start with worksync_status, then worksync_ready; claim a story before you work on it.
- Claim a story again to renew the claim, and release it if you will not finish it.
- Record what you learn in the story: append_notes for facts, worksync_comment for questions.
- Finish with worksync_done and one sentence that says what changed.
- When a person edited the same field, their value is in a conflict: resolve it, do not overwrite it.
`,
}
