import { randomBytes, randomUUID } from 'node:crypto'

export const newId = (): string => randomUUID()

export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')
