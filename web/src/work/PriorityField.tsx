import { SelectField } from '../shared/Field.tsx'
import { priorityNames } from './text.ts'
import { priorities } from './work.ts'

const choices = [
  { value: '', label: 'None' },
  ...priorities.map((value) => ({ value, label: priorityNames[value] })),
]

export const PriorityField = (field: {
  value: string
  onChange: (event: { target: { value: string } }) => void
}) => <SelectField label="Priority" choices={choices} {...field} />
