import { expect } from 'vitest';
import { readNumberView } from '../../../src/ledger/read/callee.ts';
import { readClockStrip } from '../../../src/ledger/read/clock-strip.ts';
import { readWaitingGroups } from '../../../src/ledger/read/waiting.ts';
import { readWaiting } from '../../../src/ledger/read/waiting.ts';
import { readIdleReason } from '../../../src/ledger/read/idle-reason.ts';
import { nextCallText } from '../../../src/presentation/words/history.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { listRows, told, upload } from '../edit-world.ts';
import { noon, numbers, type Scenario, waits } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn, unjudged } from '../ledger-test.ts';

/** Noon in UTC is seven in New York, a Tuesday. */
const opens = noon + 7 * hourMs;
const closes = noon + 9 * hourMs;
const marginMs = 10 * minuteMs;

/** Two rows; the second sets hours of its own. */
async function begin(dialect: TestDialect, hours = 'Mon-Fri 14:00-16:00'): Promise<Scenario> {
  const rows = buildRows(numbers(2), (index) => `Guest ${index} of ours`);
  return beginOn(dialect, { rows: rows.map((row, index) => (index === 1 ? { ...row, hours } : row)) });
}

test.from(begin)('a row waits for its own hours, and everybody who asks is told so', async (scenario) => {
  const { db } = scenario.store;
  const campaign = await scenario.campaign();
  expect(await scenario.dial(1)).toEqual(['spring/1/1']);
  expect(await scenario.plan(2, noon + 1)).toMatchObject(waits('due', opens));
  const at = noon + minuteMs;
  expect(await readWaiting(db, campaign, at)).toEqual([{ rule: 'hours', rows: 1, from: opens, to: opens }]);
  const idle = await readIdleReason(db, campaign, { now: () => at, speed: 1 });
  expect(idle).toMatchObject({ reason: 'due', until: opens, rule: 'hours' });
  const [row] = (await readNumberView(db, numbers(2)[1] ?? '', at))?.rows ?? [];
  if (row === undefined) throw new Error('the row is gone');
  expect(nextCallText(row)).toBe('It may be called at 2030-01-15 19:00 UTC: its own hours begin then.');
  const groups = await readWaitingGroups(db, campaign, at);
  expect(groups).toMatchObject([{ count: 1, calendars: [{ hours: null }, { hours: { tue: [{ from: 840, to: 960 }] } }] }]);
  const { zones } = await readClockStrip(db, campaign, at);
  expect(zones).toMatchObject([{ rows: 1, open: 0, opensAt: opens, ahead: { open: [{ from: opens, to: opens + 110 * 60_000 }] } }]);
  expect(await scenario.dial(2, opens)).toEqual(['spring/2/1']);
  expect(await scenario.broken()).toEqual([]);
});

test.from(begin)('a call that was planned in time is not placed when its own hours leave less than the margin', async (scenario) => {
  await scenario.dial(1);
  const last = closes - marginMs - 1;
  expect(await scenario.plan(2, last)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await scenario.post(2, last + 1)).toMatchObject({ kind: 'verdict', state: 'released' });
  const next = opens + 24 * hourMs;
  expect(await scenario.row(2)).toMatchObject({ state: 'waiting', due_at: next });
  expect((await scenario.attempts()).at(-1)).toMatchObject({ state: 'released', reason: 'hours' });
  expect(await scenario.dial(3, next)).toEqual(['spring/2/2']);
  expect(await scenario.broken()).toEqual([]);
});

test.from(begin, '00:00-24:00')('hours of a row that are changed behind the log show', async (scenario) => {
  unjudged();
  await scenario.dial(1);
  expect(await scenario.broken()).toEqual([]);
  const { db } = scenario.store;
  await db.updateTable('recipients').set({ terms: JSON.stringify({ hours: '14:00-16:00' }) }).where('row_number', '=', 2).execute(); // prettier-ignore
  expect(await scenario.broken()).toEqual(['rows_differ']);
});

test('corrected hours of a row hold from then on', async (dialect) => {
  const rows = listRows(2).map((row) => ({ ...row, hours: '14:00-16:00' }));
  const scenario = await beginOn(dialect, { rows });
  expect(await scenario.plan(1)).toMatchObject({ kind: 'wait', until: opens });
  const corrected = rows.map((row, index) => ({ ...row, hours: index === 0 ? '07:00-09:00' : row.hours }));
  expect(told(await upload(scenario.store, corrected))).toEqual(['corrected', 'unchanged']);
  expect(await scenario.dial(1, noon + minuteMs)).toEqual(['spring/1/1']);
  expect(await scenario.broken()).toEqual([]);
});
