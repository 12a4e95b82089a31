import { SelectField } from '../../parts/Field.tsx'
import { priorityNames } from '../../work/words.ts'
import { priorities } from '../../work/work.ts'

const choices = [
  { value: '', label: 'None' },
  ...priorities.map((value) => ({ value, label: priorityNames[value] })),
]

export const PriorityField = (field: {
  value: string
  onChange: (event: { target: { value: string } }) => void
}) => <SelectField label="Priority" choices={choices} {...field} />
