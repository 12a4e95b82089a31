import { editorRounds } from '/work/main/test/editors/rounds.ts'
const [rounds='3', edits='25', seed='41'] = process.argv.slice(2)
const r = await editorRounds({ rounds: +rounds, edits: +edits, seed: +seed, onRound: (n, x) => console.log(n, x.edits, x.mutations, x.conflicts, x.lost.slice(0,10)) })
console.log(JSON.stringify({...r, lost: r.lost.length}))
