const own = <E extends string, B extends string>(effect: E, by: B) =>
  ({ toolset: 'cowork', effect, by }) as const

/** The fields that tools of cowork itself share: what a call does, and who may make it. */
export const forPeople = {
  read: own('read', 'human'),
  write: own('write', 'human'),
  destructive: own('destructive', 'human'),
}
export const forAnyone = { read: own('read', 'anyone'), write: own('write', 'anyone') }
export const forAgents = { write: own('write', 'agent') }
