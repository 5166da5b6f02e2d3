import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { campaignRules, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { readHeader } from '../../../src/campaign/file/columns-of-rules.ts';
import { judgeRows, readRecipients } from '../../../src/list/recipients.ts';
import type { ListRow } from '../../../src/list/recipients.ts';
import { makeBundle } from '../../../src/presentation/evidence/bundle.ts';
import type { CallTruth } from '../../../src/sandbox/core/telephony/call-truth.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { isFull } from '../../support/depth.ts';
import { temporaryFolder } from '../../list/campaign-folder.ts';
import { Drive } from '../../world/drive.ts';
import type { WorldEvent } from '../../world/mix.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** Friday, noon in New York; on Sunday clocks are set forward in all zones of the list but one. */
const begins = Date.parse('2030-03-08T17:00:00Z');
const stallsAt = Date.parse('2030-03-11T21:00:00Z');
const goal = isFull ? 400 : 100;
const perDay = 80;
const lateMs = 30 * minuteMs;

/** The lines of a CSV file without quotes, by the names of its columns. */
function readCsv(name: string): Record<string, string>[] {
  const [head = '', ...lines] = readFileSync(`examples/recall/${name}`, 'utf8').trim().split('\n');
  const columns = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at] ?? '', cell])));
}

const list = readCsv('recipients.csv');
const leads = readCsv('leads.csv');
/** What is wrong with the forty is in no cell that says so, but for their id. */
const good = list.filter(({ id = '' }) => id.startsWith('P'));
const bad = list.filter(({ id = '' }) => id.startsWith('B'));

interface Callees {
  people: { mood: string; answers: { plan: string; callback_at: string }; numbers: string[] }[];
}
const callees = parse(readFileSync('examples/recall/callees.yaml', 'utf8')) as Callees;
const calleesLater = parse(readFileSync('examples/recall/callees-later.yaml', 'utf8')) as object;
const saidBy = new Map(callees.people.flatMap(({ numbers, answers }) => numbers.map((number) => [number, answers.callback_at] as const)));
const zoneOf = new Map([...list, ...leads].map(({ phone = '', timezone = '' }) => [phone, timezone]));

function wallOf(at: number, zone: string): { date: string; weekday: string; minute: number } {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', weekday: 'long',
  }).formatToParts(at); // prettier-ignore
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return { date, weekday: part('weekday'), minute: Number(part('hour')) * 60 + Number(part('minute')) };
}

/** What somebody means who says such a thing, by the clock on their wall, looked for minute by minute. Shares nothing with the program. */
function meant(said: string, zone: string, toldAt: number): number {
  const span = { 'in 90 minutes': 90, 'in two hours': 120 }[said];
  if (span !== undefined) return toldAt + span * minuteMs;
  const [, day = '', hour = '', half = ''] = /^(\w+) at (\d+) (am|pm)$/.exec(said) ?? [];
  const minute = (Number(hour) + (half === 'pm' ? 12 : 0)) * 60;
  const today = wallOf(toldAt, zone).date;
  const tomorrow = wallOf(toldAt + dayMs, zone).date;
  for (let at = Math.ceil(toldAt / minuteMs) * minuteMs; ; at += minuteMs) {
    const wall = wallOf(at, zone);
    const isDay = day === 'tomorrow' ? wall.date === tomorrow && tomorrow !== today : wall.weekday === day;
    if (isDay && wall.minute === minute) return at;
  }
}

/** Well within the hours of the campaign and of every law in the list. */
function isClearlyOpen(at: number, zone: string): boolean {
  const { weekday, minute } = wallOf(at, zone);
  return !['Saturday', 'Sunday'].includes(weekday) && minute >= 10 * 60 && minute < 19 * 60;
}

const said = ({ collected }: CallTruth, key: string): string => (typeof collected[key] === 'string' ? collected[key] : '').replace(/\.$/, '').toLowerCase(); // prettier-ignore

test(`a recall of 2,000 people from the pilot to ${goal} appointments, as one real campaign goes`, { timeout: 900_000 }, async () => {
  const random = new Random('story');
  const file = await readCampaignFile('examples/recall/campaign.yaml');
  const header = await readHeader(file);
  const frozen = campaignRules(file, header.columns, begins);
  const rules = { ...frozen, startsAt: begins, stopAt: { goal, overshoot: 'allowed' as const } };
  const rows: ListRow[] = [];
  for await (const some of readRecipients(file, header, rules)) rows.push(...some);

  const deeds: string[] = [];
  const decided: { at: number; state: string; pilot: string | null }[] = [];
  const addedAt = new Map<string, number>();
  let bundle: Uint8Array | null = null;
  const complains = callees.people[0]?.numbers[0] ?? '';
  const at = (instant: number, happen: WorldEvent['happen']): WorldEvent => ({ afterMs: instant, happen });
  let drive: Drive | undefined;
  /** The clock of the driver begins on another day. */
  const origin = Date.UTC(2030, 0, 15, 12);
  /** The operator looks once an hour, and decides by what there is to see. */
  const look: WorldEvent['happen'] = async (sandbox, hands) => {
    const row = await drive?.store.db.selectFrom('campaigns').select(['state', 'pilot_state as pilot']).executeTakeFirst();
    if (row?.pilot !== 'asked') return;
    decided.push({ at: sandbox.clock.now(), ...row });
    if (decided.length > 1) return hands.change(0, 'resume');
    const patched = await fetch(`${sandbox.url}/v1/convai/agents/agent_recall`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk_sandbox_ok' },
      body: JSON.stringify({ conversation_config: { agent: { prompt: { prompt: 'You say at once who calls, and why.' } } } }),
    });
    deeds.push(`agent ${patched.status}`);
    const put = await fetch(`${sandbox.url}/_sandbox/world`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calleesLater),
    });
    deeds.push(`world ${put.status}`);
    return hands.callSample(0);
  };
  const events: WorldEvent[] = [
    ...Array.from({ length: 96 }, (_, hour) => at(begins - origin + (hour + 1) * hourMs, look)),
    at(stallsAt - origin, async () => drive?.clock.pass(40 * minuteMs)),
    at(begins - origin + 30 * dayMs, (_, hands) => hands.change(0, 'drain')),
  ];
  for (const lead of leads) {
    const first = Math.round(random.between(hourMs, isFull ? 8 * dayMs : 3 * dayMs));
    const times = random.chance(0.5) ? [first, first + Math.round(random.between(minuteMs, dayMs))] : [first];
    for (const after of times)
      events.push(
        at(begins - origin + after, async (sandbox, hands) => {
          const [judged] = judgeRows(rules, [{ row: 1, cells: header.columns.map((column) => lead[column] ?? '') }]);
          if (judged?.verdict !== 'accepted') return void deeds.push(`lead refused: ${judged?.hint}`);
          const [answer] = await hands.add(0, [{ ...judged, externalId: judged.externalId ?? '' }]);
          if (answer?.result === 'accepted') addedAt.set(lead['phone'] ?? '', sandbox.clock.now());
        }),
      );
  }
  const promised = new Map<string, string[]>();
  const callerOf = new Map<string, string>();
  drive = new Drive({
    seed: 'story',
    sandbox: {
      concurrency: 20,
      meanTalkSeconds: 60,
      fixture: {
        agents: [{ agent_id: 'agent_recall', ...(JSON.parse(readFileSync('examples/recall/agent.json', 'utf8')) as object) }],
      } as never,
      seedData: true,
      world: callees as never,
    },
    campaigns: [{ campaignId: 'recall', rules, rows }],
    leavesPaused: true,
    mostTicks: 20_000,
    events,
    atEnd: async () => {
      const ended = await drive?.store.db.selectFrom('promises').selectAll().execute();
      for (const { e164, state, reason } of ended ?? []) promised.set(e164, [...(promised.get(e164) ?? []), `${state} ${reason}`]);
      const batches = await drive?.store.db.selectFrom('batches').select(['service_batch_id', 'caller']).execute();
      for (const { service_batch_id: id, caller } of batches ?? []) callerOf.set(id ?? '', caller);
      const store = drive?.store;
      if (store !== undefined) bundle = (await makeBundle(store, { e164: complains, since: null, now: drive?.clock.now() ?? 0, by: 'story' }))?.bytes ?? null; // prettier-ignore
    },
  });
  const { trial, proven, faults } = await drive.run();
  expect([...proven, ...faults.filter((fault) => !fault.startsWith('conduct'))]).toEqual([]);
  expect(deeds).toEqual(['agent 200', 'world 200']);

  // From here on: the service's own calls and the two files.
  const calls = trial.calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt);
  const talks = calls.filter(({ result }) => result === 'answered');
  const knownOf = new Set(good.map(({ phone = '' }) => phone));
  expect(good).toHaveLength(1960);
  expect(bad).toHaveLength(40);
  expect(calls.filter(({ to }) => !knownOf.has(to) && !addedAt.has(to))).toEqual([]);
  expect(addedAt.size).toBe(leads.length);
  // Two samples of a hundred, each called once before a person decided, who saw the campaign stand still.
  expect(decided).toMatchObject([
    { state: 'paused', pilot: 'asked' },
    { state: 'paused', pilot: 'asked' },
  ]);
  const [firstAt = 0, secondAt = 0] = decided.map(({ at: when }) => when);
  const asked = new Set(talks.filter((call) => said(call, 'plan') === 'later').map(({ to }) => to));
  const outs = (some: readonly CallTruth[]) => some.filter(({ optedOut }) => optedOut).length;
  const firstCalls = calls.filter(({ acceptedAt }) => acceptedAt < firstAt);
  const secondCalls = calls.filter(({ acceptedAt }) => acceptedAt >= firstAt && acceptedAt < secondAt);
  for (const [sample, some] of [
    [1, firstCalls],
    [2, secondCalls],
  ] as const) {
    const numbers = some.map(({ to }) => to).filter((to) => !asked.has(to));
    expect(new Set(numbers).size, `sample ${sample}`).toBe(numbers.length);
  }
  expect(new Set(firstCalls.map(({ to }) => to)).size).toBe(100);
  const talksOf = (some: readonly CallTruth[]) => some.filter(({ result }) => result === 'answered');
  const shares = [firstCalls, secondCalls].map((some) => outs(some) / talksOf(some).length);
  expect(shares[0]).toBeGreaterThan(0.05);
  expect(shares[1]).toBeLessThan(0.05);
  // Whoever asked for it is never called again; whoever talked is, only where they asked to be called back.
  for (const [index, call] of calls.entries()) {
    if (call.result !== 'answered') continue;
    const again = calls.slice(index + 1).filter(({ to }) => to === call.to);
    if (said(call, 'plan') !== 'later') expect(again, `${call.to} after ${JSON.stringify(call.collected)}`).toEqual([]);
  }
  // Each number at most eighty times in any 24 hours; which one a batch was sent with is the ledger's word, that both make no more is not.
  const rings = (some: readonly CallTruth[], most: number) => {
    for (const [index, { acceptedAt }] of some.entries()) {
      const before = some[index - most];
      if (before !== undefined) expect(acceptedAt - before.acceptedAt).toBeGreaterThanOrEqual(dayMs - minuteMs);
    }
  };
  rings(calls, 2 * perDay);
  for (const caller of ['pn_main', 'pn_second']) {
    const own = calls.filter(({ batchId }) => callerOf.get(batchId ?? '') === caller);
    expect(own.length).toBeGreaterThan(perDay);
    rings(own, perDay);
  }
  // Nobody rings at night, on Sunday, or while the worker was gone.
  for (const { to, acceptedAt } of calls) {
    const { weekday, minute } = wallOf(acceptedAt, zoneOf.get(to) ?? '');
    expect(weekday === 'Sunday' || minute < 9 * 60 || minute >= 20 * 60, `${to} ${new Date(acceptedAt).toISOString()}`).toBe(false);
    expect(acceptedAt > stallsAt + minuteMs && acceptedAt < stallsAt + 40 * minuteMs - minuteMs).toBe(false);
  }
  // Promises: never early, once in their time, or told.
  const kept = { promises: 0, kept: 0, told: 0 };
  for (const [index, call] of calls.entries()) {
    if (call.result !== 'answered' || said(call, 'plan') !== 'later') continue;
    const zone = zoneOf.get(call.to) ?? '';
    const due = meant(saidBy.get(call.to) ?? '', zone, call.endedAt ?? 0);
    const next = calls.slice(index + 1).filter(({ to }) => to === call.to);
    const inTime = next.filter(({ acceptedAt }) => acceptedAt >= due - minuteMs && acceptedAt < due + lateMs);
    expect(
      next.filter(({ acceptedAt }) => acceptedAt < due - minuteMs),
      `${call.to} was called early`,
    ).toEqual([]);
    kept.promises += 1;
    if (inTime.length === 1) kept.kept += 1;
    else if ((promised.get(call.to) ?? []).some((state) => !state.startsWith('open'))) kept.told += 1;
    else expect(isClearlyOpen(due, zone), `${call.to} was promised ${new Date(due).toISOString()}, and nobody called or told`).toBe(false);
  }
  expect(kept.promises).toBeGreaterThan(goal / 4);
  expect(kept.kept / kept.promises).toBeGreaterThan(0.45);
  // Enough is enough: then only whom a call back was promised.
  const reached = talks.filter((call) => said(call, 'plan') === 'yes').toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  expect(reached.length).toBeGreaterThanOrEqual(goal);
  const enoughAt = (reached[goal - 1]?.endedAt ?? Infinity) + 20 * minuteMs;
  expect(calls.filter(({ to, acceptedAt }) => acceptedAt > enoughAt && !asked.has(to))).toEqual([]);
  // Every row has one outcome; leads were called before others, or told why not.
  const { recipients } = trial.ledger;
  expect(recipients).toHaveLength(2_000 + leads.length);
  expect(recipients.filter(({ outcome }) => outcome === null)).toEqual([]);
  expect(recipients.filter(({ outcome }) => outcome === 'rejected')).toHaveLength(40);
  // One of them complains: a bundle that is whole, and names the calls that the service had.
  const path = join(await temporaryFolder(), 'bundle.zip');
  writeFileSync(path, bundle ?? Buffer.alloc(0));
  expect(spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path]).status).toBe(0);
  const text = Buffer.from(bundle ?? []).toString('latin1');
  for (const { conversationId } of calls.filter(({ to }) => to === complains)) expect(text).toContain(conversationId);
});
