/** A project that has nothing yet. The first line leads editors to the schema. */
export const newIndexText =
  (): string => `# yaml-language-server: $schema=./SCHEMA/work-flow-schema.json
version: 2
next_story: 1
sprints: []
backlog: []
history: []
conflicts: []
`
