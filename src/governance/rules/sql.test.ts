import { expect, test } from 'vitest'
import { configSchema } from '#base/config/index.ts'
import { extractFields } from './fields.ts'
import { createPolicies } from './policy.ts'
import { sqlBudget, writesSql } from './sql.ts'

const isWrite = (text: string) => writesSql(text, { left: sqlBudget })

test.each([
  "UPDATE deals SET discount = 90, region = 'emea' WHERE id = 5",
  '/* x */ update "crm"."deals" as d set d."discount"=90',
  'update"deals"set"stage"=1',
  'update[deals]set[stage]=1',
  'UPDATE/**/deals/* x */SET/**/stage/**/=/**/1',
  'UPDATE -- it is fine\n deals # no\n SET stage = 1',
  "SELECT '/*'; UPDATE/**/deals SET stage/**/= 1; SELECT '*/'",
  '/*!50000 UPDATE */ deals SET stage = 1',
  "update deals set data['stage'] = 1",
  'update only public.deals * set (a, b) = (1, 2)',
  'UPDATE OR IGNORE deals SET a = 1',
  'UPDATE TOP (5) deals SET a += 1',
  'UPDATE a JOIN b ON a.id = b.id SET a.stage = 1',
  'UPDATE a, b SET a.stage = b.stage',
  `UPDATE a JOIN (SELECT ${'x, '.repeat(500)} y FROM b) c SET a.stage = 1`,
  'SELECT 1; UPDATE deals SET note = 1, discount = other',
  'SELECT 1 UPDATE deals SET note = 1',
  'WITH x AS (SELECT 1) UPDATE deals SET stage = 1 FROM x',
  'WITH gone AS (DELETE FROM deals RETURNING *) SELECT * FROM gone',
  'EXPLAIN ANALYZE DELETE FROM deals',
  'DO $$ BEGIN UPDATE deals SET stage = 1; END $$',
  'IF 1 = 1 UPDATE deals SET stage = 1',
  'INSERT INTO deals (id, discount) VALUES (5, 10), (6, 90)',
  `INSERT INTO deals (${'x, '.repeat(500)} y) VALUES (1)`,
  'INSERT INTO d (id) VALUES (5) ON CONFLICT DO UPDATE SET discount = 90',
  'INSERT INTO d (id) VALUES (5) ON DUPLICATE KEY UPDATE discount = 90',
  'INSERT INTO d SET discount = -1',
  'insert into deals select * from other',
  'INSERT deals (a) VALUES (1)',
  'INSERT INTO deals VALUES (1, 2)',
  'insert or replace into deals values (1)',
  'REPLACE INTO deals (a) VALUES (1)',
  'MERGE INTO deals d USING new n ON d.id = n.id WHEN MATCHED THEN UPDATE SET stage = n.stage',
  "UPDATE deal SET data = jsonb_set(data, '{stage}', '1')",
  'DELETE FROM deals',
  'delete from deals where is_open',
  'DELETE FROM deals WHERE id = 5',
  'DELETE d FROM deals d JOIN x ON x.id = d.id WHERE x.a = 1',
  'SELECT 1 DELETE deals WHERE id = 5',
  'DROP TABLE deals',
  'drop table if exists public.deals cascade',
  'SELECT 1 DROP TABLE deals',
  'ALTER TABLE deals ADD COLUMN x int',
  'TRUNCATE deals',
  'TRUNCATE TABLE deals RESTART IDENTITY',
  'CREATE TABLE deals (id int)',
  'CREATE OR REPLACE FUNCTION f() RETURNS void AS $$ $$',
  'create unique index i on deals (id)',
  'GRANT SELECT, UPDATE ON deals TO bob',
  'GRANT ALL PRIVILEGES ON deals TO bob',
  'REVOKE UPDATE (stage) ON deals FROM bob',
  "COPY deals FROM '/tmp/x.csv'",
  'COPY deals (a, b) FROM STDIN',
  "LOAD DATA LOCAL INFILE 'x' INTO TABLE deals",
  'EXEC close_deal 5',
  "EXEC sp_executesql N'x'",
  "exec('up' + 'date')",
  "EXECUTE IMMEDIATE 'x'",
  "CALL close('won')",
  'CALL close_deal(5)',
])('RS3 M7 %j is an SQL statement that writes', (text) => {
  expect(isWrite(text)).toBe(true)
})

test.each([
  'please update the settings',
  'Update the deals and set a new stage',
  'Update the deals, then set a new stage for each',
  'We update daily. The set of rules is x = 5.',
  'update README and set up CI',
  'fix: update deps; set is larger now',
  'Insert into the slot the card you got',
  'Insert into cart (beta)',
  'Replace value (old) with value (new)',
  'replace A with B',
  'Merge into main using squash',
  'merge branch using rebase on main',
  'Delete from cache when expired',
  'You can delete from cache where possible',
  'Please delete from cart',
  'Drop by the table: 50 % off',
  'Drop table reservations for Monday',
  '[WIP] create table of contents',
  'Create user guide',
  'Create database backup',
  'Create index page on Monday',
  'create function that returns the sum',
  'Alter table seating for Monday',
  'Truncate long titles in the list',
  'Grant access to Bob',
  'Grant all users access to the page',
  'Copy file from server',
  'Copy into folder from desktop',
  'Execute plan',
  'Execute step 5',
  'Exec summary',
  'Call Ann (mobile); {soon}',
  'Call Ann (mobile)',
  'Select a drop-down and update the view',
  'With this update, set the alarm',
  'SELECT discount FROM deals',
  "SELECT update_time, 'x' AS set FROM deals WHERE update_time = 5",
  'updated deals set stage = 1',
  '# Update\n\nWe changed the title.\n\n## Set\n\na = 5',
])('RS3 M7 %j is an ordinary text', (text) => {
  expect(isWrite(text)).toBe(false)
})

test.each([
  `${'/*'.repeat(400_000)} update`,
  'update/*'.repeat(100_000),
  'update--'.repeat(100_000),
  'update a, '.repeat(80_000),
  'merge a using b on '.repeat(40_000),
  'update a set b ( '.repeat(40_000),
  'insert into a ( '.repeat(40_000),
  `update ${'x'.repeat(800_000)}`,
  `update "${'x"'.repeat(400_000)}`,
  `${' '.repeat(800_000)} update`,
  `select ${'a'.repeat(800_000)}`,
  'select '.repeat(120_000),
  'delete a where '.repeat(50_000),
])('RS3 a hostile text is searched for SQL in bounded time', (text) => {
  expect(typeof isWrite(text)).toBe('boolean')
})

test('RS3 more verbs than the limit are unreadable, over any number of texts', () => {
  const isUnreadable = (change: unknown) =>
    extractFields(change).some((field) => field.isUnreadable)
  const text = 'We update and delete. '.repeat(100)
  expect(isUnreadable({ page: text })).toBe(false)
  expect(isUnreadable({ page: Array.from({ length: 50 }, () => text) })).toBe(true)
})

test('RS3 M7 SQL that writes is blocked under hard stops and otherwise needs approval', () => {
  const judged = (rules: object[]) => {
    const policies = createPolicies(configSchema.parse({ policies: [{ id: 'p', rules }] }))
    const change = { query: 'UPDATE deals SET price = 5' }
    return policies.evaluate(policies.named('p'), extractFields(change))
  }
  expect(judged([{ field: 'stage', constraint: 'readonly' }])).toMatchObject({ hardStop: true })
  expect(judged([])).toMatchObject({ hardStop: false, isUnreadable: true })
})
