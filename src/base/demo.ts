/**
 * The names that `cowork demo` plays under (K7). Reports leave these pairs out of their figures; both names must match,
 * so that no agent disappears from a report by taking a name of the demo and working elsewhere.
 */
export const demoPairs = [
  { agent: 'demo-careful', domain: 'demo.contacts' },
  { agent: 'demo-steady', domain: 'demo.tickets' },
  { agent: 'demo-hasty', domain: 'demo.deals' },
] as const

export const isDemoPair = (pair: { readonly agent: string; readonly domain: string }): boolean =>
  demoPairs.some(({ agent, domain }) => agent === pair.agent && domain === pair.domain)
