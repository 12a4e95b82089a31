const buildFields = <E extends string, B extends string>(effect: E, by: B) =>
  ({ toolset: 'cowork', effect, by }) as const

/** The shared fields of cowork's own tools: effect and permitted callers. */
export const forPeople = {
  read: buildFields('read', 'human'),
  write: buildFields('write', 'human'),
  destructive: buildFields('destructive', 'human'),
}
export const forAnyone = {
  read: buildFields('read', 'anyone'),
  write: buildFields('write', 'anyone'),
}
export const forAgents = { write: buildFields('write', 'agent') }
