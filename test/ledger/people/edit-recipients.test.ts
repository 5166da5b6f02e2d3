import * as fc from 'fast-check';
import { expect } from 'vitest';
import { readAggregates } from '../../../src/ledger/aggregates.ts';
import { changeCampaignState } from '../../../src/ledger/rows/campaigns.ts';
import { RecipientEditor } from '../../../src/ledger/people/edit-recipients.ts';
import type { UploadRow } from '../../../src/ledger/people/edit-verdict.ts';
import { readEvents } from '../../../src/ledger/events.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { openRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAsUnknown } from '../../../src/ledger/rows/settle.ts';
import { countRetriable } from '../../../src/ledger/people/retry-ended.ts';
import { redialRecipient } from '../../../src/ledger/people/resolve.ts';
import { withdrawRecipients, type WithdrawKeys } from '../../../src/ledger/people/withdraw-recipients.ts';
import { buildRules, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { idOf, idRules, listRows, numberOf, rejectedRow, told, upload, uploadRow } from '../edit-world.ts';
import { beginProven, noon, Scenario } from '../scenario.ts';
import { openAt, type TestDialect } from '../test-stores.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';
import { newDatabase } from '../clean-store.ts';

type Rows = Awaited<ReturnType<Scenario['recipients']>>;

const standing = (rows: Rows) =>
  rows.map((row) => [row.row_number, row.external_id, row.state, row.outcome, row.e164 === null ? null : row.e164]);

async function begin(dialect: TestDialect, rows: Parameters<typeof beginProven>[1] = {}): Promise<Scenario> {
  return beginOn(dialect, { rows: listRows(4), rules: idRules, ...rows });
}

function withdraw(scenario: Scenario, keys: WithdrawKeys, now = noon, dryRun = false) {
  return withdrawRecipients(scenario.store, { campaignId: 'spring', note: null, dryRun, now }, keys);
}

async function outcomes(scenario: Scenario) {
  const rows = await readAggregates(scenario.store.db, 'spring', ['outcome']);
  return Object.fromEntries(rows.map(({ value, count }) => [value, count]));
}

const small = { pacing: { ...buildRules().pacing, batchSize: 2, refillThreshold: 1 } };

test.from(begin)('an upload adds, corrects and leaves rows alone, and says which', async (scenario) => {
  const rows = [
    uploadRow(1, 'id1', numberOf(1), 'Another Name'),
    uploadRow(2, 'id0', numberOf(0)),
    uploadRow(3, 'new', numberOf(10)),
    uploadRow(4, 'id2', numberOf(11)),
  ];
  const results = await upload(scenario.store, rows);
  expect(results).toEqual([
    { row: 1, result: 'corrected', code: null, hint: null, campaignRow: 2 },
    { row: 2, result: 'unchanged', code: null, hint: null, campaignRow: 1 },
    { row: 3, result: 'accepted', code: null, hint: null, campaignRow: 5 },
    { row: 4, result: 'corrected', code: null, hint: null, campaignRow: 3 },
  ]);
  expect(standing(await scenario.recipients())).toEqual([
    [1, 'id0', 'waiting', null, numberOf(0)],
    [2, 'id1', 'waiting', null, numberOf(1)],
    [3, 'id2', 'waiting', null, numberOf(11)],
    [4, 'id3', 'waiting', null, numberOf(3)],
    [5, 'new', 'waiting', null, numberOf(10)],
  ]);
  expect(await scenario.campaign()).toMatchObject({ rowsTotal: 5, rowsRejected: 0 });
  const events = await readEvents(scenario.store.db, 'spring', { afterSeq: 0, limit: 100 });
  const hash = expect.stringMatching(/^[\w-]{11}$/) as unknown;
  const hashes = { hash, cells: hash, version: 2 };
  expect(events.slice(-4).map(({ type, recipientId, data }) => [type, recipientId, data])).toEqual([
    ['recipient.added', 'spring/5', { ...hashes }],
    ['recipient.corrected', 'spring/2', { outcome: null, numberChanged: false, ...hashes }],
    ['recipient.corrected', 'spring/3', { outcome: null, numberChanged: true, ...hashes }],
    ['campaign.edited', undefined, { added: 1, corrected: 2, withdrawn: 0 }],
  ]);
  // The same upload once more changes nothing and leaves no trace.
  expect(told(await upload(scenario.store, rows))).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged']);
  expect(await readEvents(scenario.store.db, 'spring', { afterSeq: 0, limit: 100 })).toHaveLength(events.length);

  await scenario.dial(1);
  const attempts = await scenario.attempts();
  expect(attempts.map((row) => row.e164).sort()).toEqual([0, 1, 10, 11, 3].map(numberOf).sort());
  const cells = [];
  for await (const row of readResults(scenario.store.db, 'spring')) cells.push([row.row, row.cells[1]]);
  expect(cells).toEqual([
    [1, 'Guest id0'],
    [2, 'Another Name'],
    [3, 'Guest id2'],
    [4, 'Guest id3'],
    [5, 'Guest new'],
  ]);
});

test('of named rows only those are corrected that were rejected, also after the end', async (dialect) => {
  const rows = [...listRows(2), rejectedRow(3, 'id2', 'invalid_phone'), rejectedRow(4, 'id1', 'duplicate_id', numberOf(3))];
  const scenario = await begin(dialect, { rows });
  let now = noon;
  const fix = (...fixes: UploadRow[]) => upload(scenario.store, fixes, { fixes: true }, now);
  const answers = await fix(
    uploadRow(1, 'id0', numberOf(0), 'Another Name'),
    uploadRow(2, 'id1', numberOf(1)),
    uploadRow(3, 'id2', numberOf(0)),
    uploadRow(4, 'id1', numberOf(3)),
    uploadRow(9, 'id9', numberOf(9)),
  );
  const failed = (code: string) => ['failed', code];
  const refused = [failed('not_rejected'), 'unchanged', failed('duplicate_phone'), failed('duplicate_id'), failed('not_found')];
  expect(told(answers)).toEqual(refused);
  expect(answers.find(({ code }) => code === 'duplicate_id')?.hint).toMatch(/^row 2 of the campaign has the same id/);
  expect(await scenario.campaign()).toMatchObject({ rowsTotal: 4, rowsRejected: 2 });
  expect(told(await fix(uploadRow(3, 'id2', numberOf(2))))).toEqual(['corrected']);
  expect(told(await fix(uploadRow(3, 'id2', numberOf(2))))).toEqual(['unchanged']);
  await scenario.dial(1);
  for (const attempt of await scenario.attempts()) await scenario.settle(attempt.attempt_id, 'answered', noon + minuteMs);
  await scenario.close(noon + hourMs);
  expect(await scenario.campaign()).toMatchObject({ state: 'completed', rowsRejected: 1 });
  now = noon + hourMs;
  // An upload is refused then; only what was rejected can begin another round.
  await expect(upload(scenario.store, [uploadRow(1, 'id7', numberOf(7))])).rejects.toThrow('has ended');
  expect(told(await fix(uploadRow(3, 'id2', numberOf(2)), uploadRow(4, 'id3', numberOf(3))))).toEqual([
    failed('not_rejected'),
    'corrected',
  ]);
  expect(standing(await scenario.recipients()).slice(2)).toEqual([
    [3, 'id2', 'done', 'completed', numberOf(2)],
    [4, 'id3', 'waiting', null, numberOf(3)],
  ]);
  expect(await outcomes(scenario)).toEqual({ completed: 3 });
  expect(await openRound(scenario.store, 'spring', noon + 2 * hourMs)).toMatchObject({ round: 2 });
});

test('nothing is corrected in a campaign that has failed, drains, or is past its end', async (dialect) => {
  const fix = (scenario: Scenario) => upload(scenario.store, [uploadRow(2, 'id1', numberOf(1))], { fixes: true });
  const rows = [...listRows(1), rejectedRow(2, 'id1', 'invalid_phone')];
  for (const state of ['draining', 'failed'] as const) {
    const scenario = await begin(dialect, { rows });
    await scenario.store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: state }));
    await expect(fix(scenario)).rejects.toThrow(state === 'failed' ? 'has failed' : 'is draining');
  }
  const over = await begin(dialect, { rows, rules: { ...idRules, endsAt: noon } });
  await expect(fix(over)).rejects.toThrow('(ends_at)');
});

test('who has a call planned or open is not touched, and is reported', async (dialect) => {
  const scenario = await begin(dialect, { rules: { ...idRules, ...small } });
  const corrected = [0, 1, 2].map((index) => uploadRow(index + 1, idOf(index), numberOf(20 + index)));
  await scenario.plan(1);
  const before = (await scenario.recipients()).slice(0, 2);
  expect(told(await upload(scenario.store, corrected))).toEqual([['failed', 'call_open'], ['failed', 'call_open'], 'corrected']);
  expect((await scenario.recipients()).slice(0, 2)).toEqual(before);
  const step = await scenario.post(1);
  expect(step.kind === 'post' && step.calls.map((call) => call.e164)).toEqual([numberOf(0), numberOf(1)]);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 2 });
  expect(told(await upload(scenario.store, corrected))).toEqual([['failed', 'call_open'], ['failed', 'call_open'], 'unchanged']);
  expect(told(await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0))]))).toEqual(['unchanged']);
  expect((await withdraw(scenario, { ids: ['id0', 'id3'] })).map(({ result }) => result)).toEqual(['call_open', 'withdrawn']);
  // A retry goes to the new number, and the history keeps the old one.
  await scenario.settle('spring/1/1', 'busy', noon + minuteMs);
  expect(told(await upload(scenario.store, corrected, {}, noon + 2 * minuteMs))).toEqual([
    'corrected',
    ['failed', 'call_open'],
    'unchanged',
  ]);
  await scenario.dial(2, noon + hourMs);
  const attempts = (await scenario.attempts()).filter((row) => row.recipient_id === 'spring/1');
  expect(attempts.map((row) => row.e164)).toEqual([numberOf(0), numberOf(20)]);
});

test('where the service gives calls back, who is withdrawn with a planned or open call is never called again', async (dialect) => {
  const scenario = await begin(dialect, { rules: { ...idRules, ...small }, api: 'batch-calling' });
  const same = (index: number) => [uploadRow(1, idOf(index), numberOf(index))];
  await scenario.plan(1);
  expect((await withdraw(scenario, { ids: ['id0'] }, noon, true)).map(({ result }) => result)).toEqual(['withdrawing']);
  expect(await scenario.row()).toMatchObject({ taken_out_at: null });
  expect((await withdraw(scenario, { ids: ['id0'] })).map(({ result }) => result)).toEqual(['withdrawing']);
  // A corrected list does not undo it, and says so.
  expect(told(await upload(scenario.store, same(0)))).toEqual([['failed', 'call_open']]);
  const step = await scenario.post(1);
  expect(step.kind === 'post' && step.calls.map((call) => call.e164)).toEqual([numberOf(1)]);
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  expect(await scenario.row()).toMatchObject({ state: 'done', outcome: 'cancelled', reason: 'withdrawn' });
  // One whose call is open ends with that call, whatever the record says later.
  expect((await withdraw(scenario, { ids: ['id1'] })).map(({ result }) => result)).toEqual(['withdrawing']);
  await scenario.settle('spring/2/1', 'unknown', noon + minuteMs);
  await scenario.settle('spring/2/1', 'busy', noon + 2 * minuteMs);
  expect(await scenario.row(2)).toMatchObject({ state: 'done', outcome: 'cancelled', reason: 'withdrawn', counted: 1 });
  // Only a person's word about the row brings it back.
  expect(told(await upload(scenario.store, same(1)))).toEqual([['failed', 'withdrawn']]);
  expect(told(await upload(scenario.store, same(1), { restore: true }, noon + 3 * minuteMs))).toEqual(['corrected']);
  expect(await scenario.row(2)).toMatchObject({ state: 'waiting', outcome: null, taken_out_at: null });
});

test('a withdrawn row whose call leaves doubt is called neither by a decision to redial nor by a retry', async (dialect) => {
  const scenario = await begin(dialect, { rules: { ...idRules, ...small }, api: 'campaigns' });
  await scenario.dial(1);
  await withdraw(scenario, { ids: ['id0'] });
  await scenario.store.transaction((tx) =>
    settleAsUnknown(tx, { campaignId: 'spring', now: noon }, { attemptIds: ['spring/1/1'], detail: 'no_conversation' }),
  );
  expect(await scenario.row()).toMatchObject({ outcome: 'unresolved' });
  expect(await countRetriable(scenario.store.db, 'spring')).toEqual({});
  const [row] = await scenario.recipients();
  await scenario.store.transaction((tx) => redialRecipient(tx, row as NonNullable<typeof row>, noon + minuteMs));
  await scenario.dial(2, noon + minuteMs);
  expect((await scenario.attempts()).filter((attempt) => attempt.recipient_id === 'spring/1')).toHaveLength(1);
  expect(await scenario.row()).toMatchObject({ state: 'done', outcome: 'cancelled', reason: 'withdrawn' });
});

test.from(begin, {
  rows: [
    uploadRow(1, 'id0', numberOf(0)),
    rejectedRow(2, 'id1', 'invalid_phone'),
    rejectedRow(3, 'id0', 'duplicate_id', numberOf(5)),
    uploadRow(4, 'id3', numberOf(3)),
  ],
  rules: { ...idRules, retry: { ...buildRules().retry, maxAttempts: 1 } },
})('rows that never could be dialled are corrected and go back in line', async (scenario) => {
  const { store } = scenario;
  expect(await outcomes(scenario)).toEqual({ rejected: 2 });
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'answered', noon + minuteMs);
  await scenario.settle('spring/4/1', 'invalid_number', noon + minuteMs);
  expect(await outcomes(scenario)).toEqual({ rejected: 2, completed: 1, undialable: 1 });

  const results = await upload(store, [
    uploadRow(1, 'id0', numberOf(5)),
    uploadRow(2, 'id1', numberOf(6)),
    uploadRow(3, 'id3', numberOf(7)),
  ]);
  expect(told(results)).toEqual([['failed', 'already_ended'], 'corrected', 'corrected']);
  expect(results[0]?.hint).toBe('its outcome is completed, and stays');
  expect(await outcomes(scenario)).toEqual({ rejected: 1, completed: 1 });
  expect(await scenario.campaign()).toMatchObject({ rowsTotal: 4, rowsRejected: 1 });

  // The only allowed attempt goes to the new number.
  expect((await scenario.dial(2, noon + hourMs)).sort()).toEqual(['spring/2/1', 'spring/4/2']);
  for (const attemptId of ['spring/2/1', 'spring/4/2']) await scenario.settle(attemptId, 'answered', noon + hourMs + minuteMs);
  expect(await outcomes(scenario)).toEqual({ rejected: 1, completed: 3 });
  expect(await scenario.close(noon + 2 * hourMs)).toBe(true);
});

test.from(begin)('a withdrawn row is cancelled, and comes back only when that is said', async (scenario) => {
  const { store } = scenario;
  expect(await withdraw(scenario, { ids: ['id1', 'nobody'] }, noon, true)).toEqual([
    { key: 'id1', campaignRow: 2, result: 'withdrawn' },
    { key: 'nobody', campaignRow: null, result: 'not_found' },
  ]);
  expect(await scenario.row(2)).toMatchObject({ state: 'waiting' });
  expect((await withdraw(scenario, { rows: [2, 3, 99] })).map(({ result }) => result)).toEqual(['withdrawn', 'withdrawn', 'not_found']);
  expect((await withdraw(scenario, { rows: [2] })).map(({ result }) => result)).toEqual(['already_ended']);
  expect(await scenario.row(2)).toMatchObject({ state: 'done', outcome: 'cancelled', reason: 'withdrawn' });
  expect(await outcomes(scenario)).toEqual({ cancelled: 2 });

  const same = uploadRow(1, 'id1', numberOf(1));
  const other = uploadRow(2, 'id2', numberOf(30));
  expect(told(await upload(store, [same, other]))).toEqual([
    ['failed', 'withdrawn'],
    ['failed', 'withdrawn'],
  ]);
  expect(told(await upload(store, [same], { restore: true }))).toEqual(['corrected']);
  expect(await outcomes(scenario)).toEqual({ cancelled: 1 });
  expect((await scenario.dial(1)).sort()).toEqual(['spring/1/1', 'spring/2/1', 'spring/4/1']);
});

test.from(begin, { rows: listRows(6) })('a number belongs to one row, also when rows exchange theirs', async (scenario) => {
  const { store } = scenario;
  const taken = await upload(store, [uploadRow(1, 'new', numberOf(2)), uploadRow(2, 'id0', numberOf(1))]);
  expect(told(taken)).toEqual([
    ['failed', 'duplicate_phone'],
    ['failed', 'duplicate_phone'],
  ]);
  expect(taken[0]?.hint).toBe('row 3 of the campaign has the same number; each number is dialled for one row only');

  // Each row gets the number of the next one, and a new row that of the first.
  const shifted = [0, 1, 2, 3, 4, 5].map((index) => uploadRow(index + 1, idOf(index), numberOf((index + 1) % 6)));
  const editor = new RecipientEditor(store, { campaignId: 'spring', restore: false, dryRun: false });
  const first = await editor.apply(shifted.slice(0, 3), noon);
  const second = await editor.apply(shifted.slice(3), noon);
  const waited = await editor.finish(noon);
  expect([...first, ...second, ...waited].every(({ result }) => result === 'corrected')).toBe(true);
  expect((await scenario.recipients()).map((row) => row.e164)).toEqual([1, 2, 3, 4, 5, 0].map(numberOf));

  // One of two that swap is being called, so the other cannot have its number.
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'busy', noon);
  const exchange = [uploadRow(1, 'id0', numberOf(2)), uploadRow(2, 'id1', numberOf(1))];
  expect(told(await upload(store, exchange))).toEqual([
    ['failed', 'duplicate_phone'],
    ['failed', 'call_open'],
  ]);
});

test('a dry run tells what an upload would do, and changes nothing', async (dialect) => {
  const rows = [
    ...[0, 1, 2, 3].map((index) => uploadRow(index + 1, idOf(index), numberOf((index + 1) % 4))),
    uploadRow(5, 'new', numberOf(9)),
  ];
  const scenario = await begin(dialect);
  const before = await scenario.recipients();
  const editor = new RecipientEditor(scenario.store, { campaignId: 'spring', restore: false, dryRun: true });
  const parts = [];
  for (const row of rows) parts.push(...(await editor.apply([row], noon)));
  const dry = [...parts, ...(await editor.finish(noon))];
  expect(await scenario.recipients()).toEqual(before);
  const real = await upload(scenario.store, rows);
  expect(dry.toSorted((a, b) => a.row - b.row)).toEqual(real.toSorted((a, b) => a.row - b.row));
  expect(told(real)).toEqual(['corrected', 'corrected', 'corrected', 'corrected', 'accepted']);
});

test('a row that waits keeps its turn, and one that was deferred is looked at anew', async (dialect) => {
  const scenario = await begin(dialect, { rules: { ...idRules, ...small } });
  const { store } = scenario;
  await scenario.dial(1);
  await scenario.settle('spring/1/1', 'busy', noon);
  await store.db
    .updateTable('recipients')
    .set({ due_at: noon + hourMs })
    .where('row_number', '=', 4)
    .execute();
  await upload(store, [uploadRow(1, 'id0', numberOf(0), 'X'), uploadRow(2, 'id3', numberOf(3), 'Y')]);
  const [first, , , fourth] = await scenario.recipients();
  expect(first).toMatchObject({ called: 1, rank: 0, due_at: noon + 5 * minuteMs, counted: 1 });
  expect(fourth).toMatchObject({ called: 0, rank: 50, due_at: 0 });
});

test.from(begin)('a campaign that is not at its end is edited, another is refused', async (scenario) => {
  unjudged();
  const { store } = scenario;
  const edit = (now = noon) => upload(store, [uploadRow(1, `id${now}`, numberOf(40))], { dryRun: true }, now);
  await scenario.pause(noon, 'a look');
  expect(told(await edit())).toEqual(['accepted']);
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'draining', reason: 'cancelled' }));
  await expect(edit()).rejects.toThrow(/spring is draining/);
  await store.transaction((tx) => changeCampaignState(tx, { campaignId: 'spring', now: noon }, { to: 'cancelled', reason: null }));
  await expect(edit()).rejects.toMatchObject({
    isBadInput: true,
    message: expect.stringMatching(/has ended \(cancelled\), so its rows cannot be changed\.$/),
    remedy: { kind: 'retry_rows', campaignId: 'spring' },
  });
  await expect(withdraw(scenario, { rows: [1] })).rejects.toThrow(/has ended \(cancelled\)/);
  await expect(upload(store, [], { campaignId: 'autumn' })).rejects.toThrow(/not in this database/);
});

test('after the end by its own rules nothing is edited', async (dialect) => {
  const scenario = await begin(dialect, { rules: { ...idRules, endsAt: noon + hourMs } });
  const rows = [uploadRow(1, 'new', numberOf(40))];
  await expect(upload(scenario.store, rows, {}, noon + hourMs)).rejects.toThrow(/ended at 2030-01-15T13:00.*ends_at/);
  expect(told(await upload(scenario.store, rows, {}, noon))).toEqual(['accepted']);
});

test.both('an upload and a batch on its way take turns', async (dialect) => {
  const location = await newDatabase(dialect);
  const store = await openAt(location);
  const scenario = await beginProven(store, { rows: listRows(40), rules: { ...idRules, ...small } });
  // A process has one writer of a SQLite file; PostgreSQL gets two connections at once.
  const other = dialect === 'sqlite' ? store : await openAt(location);
  const otherScenario = new Scenario(other, 'spring');
  const corrected = listRows(40).map((row, index) => uploadRow(row.row, row.externalId, numberOf(100 + index)));
  const editor = new RecipientEditor(store, { campaignId: 'spring', restore: false, dryRun: false });
  const edits: Promise<unknown>[] = [];
  let sent: Promise<unknown> = Promise.resolve();
  for (let part = 0; part < 20; part += 1) {
    edits.push(editor.apply(corrected.slice(part * 2, part * 2 + 2), noon));
    if (part % 4 === 0) {
      const n = part / 4 + 1;
      // A batch is planned when the one before it has its verdict.
      await sent;
      await Promise.all([otherScenario.plan(n), ...edits.splice(0)]);
      sent = otherScenario.post(n).then(() => otherScenario.verdict(n, 'confirmed'));
    }
  }
  await Promise.all([...edits, sent]);
  const recipients = new Map((await scenario.recipients()).map((row) => [row.recipient_id, row]));
  const attempts = await scenario.attempts();
  expect(attempts.length).toBeGreaterThan(4);
  expect(attempts.map((row) => row.e164)).toEqual(attempts.map((row) => recipients.get(row.recipient_id)?.e164));
});

type Step =
  | { kind: 'upload'; rows: { id: number; number: number; name: number }[]; restore: boolean }
  | { kind: 'withdraw'; ids: number[] }
  | { kind: 'plan' | 'post' | 'settle'; pick: number };

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('upload' as const),
      rows: fc.uniqueArray(fc.record({ id: fc.nat({ max: 9 }), number: fc.nat({ max: 14 }), name: fc.nat({ max: 2 }) }), {
        maxLength: 6,
        selector: ({ id }) => id,
      }),
      restore: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('withdraw' as const), ids: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) }),
    fc.record({ kind: fc.constantFrom('plan' as const, 'post' as const, 'settle' as const), pick: fc.nat() }),
  ),
  { minLength: 5, maxLength: 25 },
);

const dispositions = ['answered', 'busy', 'invalid_number', 'no_answer', 'opted_out'] as const;

/** Checks after each step whether somebody with an open call was changed. */
async function play(scenario: Scenario, script: readonly Step[]): Promise<void> {
  const { store } = scenario;
  let planned = 0;
  let posted = 0;
  let now = noon;
  const open = new Map<string, string>();
  for (const step of script) {
    now += 20 * minuteMs;
    if (step.kind === 'upload') {
      const numbers = new Set<number>();
      const rows: UploadRow[] = step.rows
        .filter(({ number }) => !numbers.has(number) && numbers.add(number))
        .map(({ id, number, name }, index) => uploadRow(index + 1, idOf(id), numberOf(number), `Guest ${name}`));
      await upload(store, rows, { restore: step.restore }, now);
    } else if (step.kind === 'withdraw') {
      if (step.ids.length > 0) await withdraw(scenario, { ids: step.ids.map(idOf) }, now);
    } else if (step.kind === 'plan' && planned === posted) {
      if ((await scenario.plan(planned + 1, now)).kind === 'batch') planned += 1;
    } else if (step.kind === 'post' && planned > posted) {
      posted += 1;
      const sent = await scenario.post(posted, now);
      if (sent.kind === 'post') await scenario.verdict(posted, 'confirmed', { now, callsInitiated: sent.calls.length });
    } else if (step.kind === 'settle') {
      const calls = (await scenario.attempts()).filter((row) => row.state === 'open');
      const call = calls[step.pick % Math.max(1, calls.length)];
      if (call !== undefined) await scenario.settle(call.attempt_id, dispositions[step.pick % dispositions.length] ?? 'busy', now);
    }
    const attempts = (await scenario.attempts()).filter(({ state }) => ['planned', 'posting', 'open'].includes(state));
    const rows = new Map((await scenario.recipients()).map((row) => [row.recipient_id, row]));
    const seen = new Set<string>();
    for (const attempt of attempts) {
      const row = rows.get(attempt.recipient_id);
      const text = JSON.stringify([row?.e164, row?.cells, row?.zones]);
      expect(row).toMatchObject({ state: 'open', e164: attempt.e164 });
      expect(open.get(attempt.attempt_id) ?? text).toBe(text);
      open.set(attempt.attempt_id, text);
      expect(seen.has(attempt.e164)).toBe(false);
      seen.add(attempt.e164);
    }
    const numbers = [...rows.values()].map((row) => row.e164);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
  const rows = await scenario.recipients();
  const counted = Object.values(await outcomes(scenario)).reduce((sum, count) => sum + count, 0);
  expect(counted).toBe(rows.filter((row) => row.outcome !== null).length);
  expect(await scenario.campaign()).toMatchObject({ rowsTotal: rows.length });
  expect(await scenario.broken()).toEqual([]);
}

test('whatever is uploaded and withdrawn, nobody is changed whose call is open', async (dialect) => {
  const runs = { numRuns: dialect === 'sqlite' ? 40 : 15, seed: 20_300_115 };
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const scenario = await begin(dialect, { rules: { ...idRules, ...small } });
      await play(scenario, script);
    }),
    runs,
  );
});
