/**
 * The agents and domains of `cowork demo` (K7). Reports exclude these pairs. Both names must match: an agent cannot hide
 * from reports by taking a demo name in another domain.
 */
export const demoPairs = [
  { agent: 'demo-careful', domain: 'demo.contacts' },
  { agent: 'demo-steady', domain: 'demo.tickets' },
  { agent: 'demo-hasty', domain: 'demo.deals' },
] as const

export const isDemoPair = (pair: { readonly agent: string; readonly domain: string }): boolean =>
  demoPairs.some(({ agent, domain }) => agent === pair.agent && domain === pair.domain)
