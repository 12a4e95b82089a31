/** What a new data root says to agents until people say it better (W25). */
export const guidanceTexts: Readonly<Record<string, string>> = {
  general: `# General

- Read the neighbouring code before you write, and write the same way.
- One change, one purpose. Say why in the commit message.
- Every change of behaviour comes with a test that fails without it.
- Errors name what failed and what to do next. Nothing is swallowed.
- Delete what is not used. Leave the place tidier than you found it.
`,
  golang: `# Go

- \`gofmt\`, \`go vet\` and the race detector are part of every run.
- Return errors, wrapped with what was being done; panic only for bugs.
- Accept interfaces, return structs. Keep interfaces small and near their user.
- Contexts come first and are passed on. Every goroutine has an end.
- Table-driven tests; fakes of your own for what you own, real parts for the rest.
`,
  typescript: `# TypeScript

- Strict mode, no \`any\`, no unchecked index access. Parse at the edges, trust inside.
- Types are data: prefer unions to flags, and values to classes.
- Named exports, small modules, no cycles.
- Every promise is awaited or handled. Cancel with AbortSignal.
- Test behaviour through the public door, with real parts where they can run.
`,
  'ai-collaboration': `# Working together

- Begin with worksync_status, then worksync_ready; claim a story before you work on it.
- Keep a claim alive by claiming again, and release what you will not finish.
- Put what you learn into the story: append_notes for facts, worksync_comment for questions.
- Finish with worksync_done and one sentence that tells people what changed.
- When a person edited the same thing, their words are in a conflict: settle it, do not write over it.
`,
}
