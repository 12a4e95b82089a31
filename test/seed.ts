import * as fc from 'fast-check'

// The same cases on every machine, so that a failure is reproducible.
fc.configureGlobal({ seed: 20_261_115 })
