import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readAggregates } from '../../../../src/ledger/aggregates.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { openSqliteFile } from '../../../../src/ledger/sqlite-file.ts';
import { writeInAnotherProcess } from '../../../ledger/other-process.ts';
import { emptyDatabase } from '../../../ledger/test-stores.ts';
import { createLedger } from '../campaign-ledger.ts';
import { runCommand } from '../terminal.ts';
import type { Store } from '../../../../src/ledger/tx.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const backUp = (env: Record<string, string>, ...args: string[]) => runCommand(['backup', ...args], { env });

async function bothCounts({ db }: Store): Promise<{ recounted: unknown; kept: unknown; attempts: number }> {
  const counted = sql<{ kind: string; value: string; count: number }>`
    select 'outcome' as kind, outcome as value, count(*) as count from recipients where outcome is not null group by outcome
    union all
    select 'disposition', disposition, count(*) from attempts where disposition is not null group by disposition
    order by kind, value`;
  const { rows } = await counted.execute(db);
  const kept = await readAggregates(db, 'spring', ['outcome', 'disposition']);
  return {
    recounted: rows,
    kept: kept.map(({ kind, value, count }) => ({ kind, value, count })),
    attempts: rows.filter(({ kind }) => kind === 'disposition').reduce((sum, row) => sum + row.count, 0),
  };
}

test('copies made while a process writes are whole: sound, and their counters agree with a recount', async () => {
  const location = await emptyDatabase('sqlite');
  const folder = temporaryFolder();
  const writer = writeInAnotherProcess(location);
  const settled: number[] = [];
  for (let n = 1; n <= 6; n += 1) {
    await writer.wrote(25);
    const file = join(folder, `copy-${n}.db`);
    const { code, stdout, stderr } = await backUp({ CARILLON_DB: location.sqlitePath }, file, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const said = JSON.parse(stdout) as object;
    expect(said).toEqual({ file, bytes: statSync(file).size, campaigns: 1, schema: expect.stringMatching(/^\d{3}-/) });
    const copy = await openStore({ sqlitePath: file }, 'as-is');
    const { rows } = await sql`pragma integrity_check`.execute(copy.db);
    expect(rows).toEqual([{ integrity_check: 'ok' }]);
    const { recounted, kept, attempts } = await bothCounts(copy);
    expect(kept).toEqual(recounted);
    settled.push(attempts);
    await copy.close();
  }
  // Each at its own instant: the process wrote on.
  expect(settled).toEqual([...new Set(settled)].toSorted((a, b) => a - b));
  expect(settled[0]).toBeGreaterThan(0);
});

test('a copy is for its owner alone, stands by itself, and is told in words', async () => {
  const ledger = await createLedger();
  const file = ledger.path('kept.db');
  const { code, stdout } = await ledger.run('backup', file);
  expect(code).toBe(0);
  expect(stdout).toMatch(/kept\.db: [\d,]+ bytes, 1 campaign, schema \d{3}-[\w-]+; checked\.\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(ledger.folder).filter((name) => !name.startsWith('carillon.db'))).toEqual(['kept.db']);
});

test.each(['', '-wal', '-journal'])('nothing that is there is overwritten: %s', async (end) => {
  const ledger = await createLedger();
  const file = ledger.path('kept.db');
  writeFileSync(`${file}${end}`, 'mine');
  const { code, stderr } = await ledger.run('backup', file);
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}${end}: this is there already and will not be overwritten`);
  expect(readFileSync(`${file}${end}`, 'utf8')).toBe('mine');
});

test('a damaged database, one of another program and one that is missing leave no copy behind', async () => {
  const folder = temporaryFolder();
  const copy = join(folder, 'copy.db');
  const other = join(folder, 'other.db');
  const file = openSqliteFile(other);
  file.prepare('create table invoices (id integer)').run([]);
  file.close();
  expect(await backUp({ CARILLON_DB: other }, copy)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('database of another program (its tables: invoices)'),
  });
  expect(await backUp({ CARILLON_DB: join(folder, 'absent.db') }, copy)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no database at'),
  });
  const ledger = await createLedger();
  const bytes = readFileSync(ledger.path('carillon.db'));
  writeFileSync(ledger.path('carillon.db'), bytes.fill(7, 4096 * 8, 4096 * 20));
  const damaged = await ledger.run('backup', copy);
  expect(damaged).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged|malformed/) });
  expect(readdirSync(folder).filter((name) => name.includes('copy'))).toEqual([]);
});

test('a folder that is missing, or may not be written, is named', async () => {
  const ledger = await createLedger();
  const missing = ledger.path('absent/kept.db');
  expect(await ledger.run('backup', missing)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${missing}: the copy was not written: its folder does not exist`),
  });
  expect(existsSync(missing)).toBe(false);
});

test('on PostgreSQL it names what to use instead, and not the password', async () => {
  const { code, stderr } = await backUp({ DATABASE_URL: 'postgres://me:planted@db.example.com/ledger' }, 'x.db');
  expect(code).toBe(2);
  expect(stderr).toContain('the database is PostgreSQL at db.example.com/ledger');
  expect(stderr).toContain('pg_dump --format=custom --file=carillon.dump "$DATABASE_URL"');
  expect(stderr).not.toContain('planted');
});
