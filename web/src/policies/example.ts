/** An example with one rule of each kind and a mapping. */
export const example = `policies:
  - id: crm-write
    description: Changes to deals
    rules:
      - { field: deal_stage, constraint: high_risk }
      - { field: amount, constraint: value_range, min: 0, max: 500000 }
      - { field: commission, constraint: readonly, reason: Finance only. }
      - { field: region, constraint: enum, values: [emea, apac] }
      - { field: email, constraint: regex, pattern: '^\\S+@\\S+$' }
      - { field: discount, constraint: high_risk, approvers: 2 }
mappings:
  - { agent_id: '*', domain: crm.deals, policy_id: crm-write }
`
