import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { campaignRules, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { readHeader } from '../../../src/campaign/file/columns-of-rules.ts';
import { validateRows, readRecipients } from '../../../src/list/recipients.ts';
import type { ListRow } from '../../../src/list/recipients.ts';
import { makeBundle } from '../../../src/presentation/evidence/bundle.ts';
import type { CallTruth } from '../../../src/sandbox/core/telephony/call-truth.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { saidIn } from '../../support/campaign-rules.ts';
import { isFull } from '../../support/depth.ts';
import { Drive } from '../../world/drive.ts';
import type { Call, Row } from '../../world/judge/evidence.ts';
import { wallOf, weekdayOf } from '../../world/judge/calls.ts';
import { judge } from '../../world/judge/judge.ts';
import type { WorldEvent } from '../../world/mix.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** Friday noon in New York; on Sunday clocks go forward in all zones of the list but one. */
const begins = Date.parse('2030-03-08T17:00:00Z');
const stallsAt = Date.parse('2030-03-11T21:00:00Z');
const goal = isFull ? 400 : 100;
const perDay = 80;
const lateMs = 30 * minuteMs;

/** Keyed by column; no quotes. */
function readCsv(name: string): Record<string, string>[] {
  const [head = '', ...lines] = readFileSync(`examples/recall/${name}`, 'utf8').trim().split('\n');
  const columns = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at] ?? '', cell])));
}

const list = readCsv('recipients.csv');
const leads = readCsv('leads.csv');
/** Only the id says which forty rows are bad. */
const good = list.filter(({ id = '' }) => id.startsWith('P'));
const bad = list.filter(({ id = '' }) => id.startsWith('B'));

interface Callees {
  people: { mood: string; answers: { plan: string; callback_in: number }; numbers: string[] }[];
}
const callees = parse(readFileSync('examples/recall/callees.yaml', 'utf8')) as Callees;
const calleesLater = parse(readFileSync('examples/recall/callees-later.yaml', 'utf8')) as object;
const saidBy = new Map(callees.people.flatMap(({ numbers, answers }) => numbers.map((number) => [number, answers.callback_in] as const)));
const zoneOf = new Map([...list, ...leads].map(({ phone = '', timezone = '' }) => [phone, timezone]));

/** Well within the hours of the campaign and of every law in the list. */
function isClearlyOpen(at: number, zone: string): boolean {
  const wall = wallOf(at, zone);
  const time = wall.slice(11);
  return !['Saturday', 'Sunday'].includes(weekdayOf(wall)) && time >= '10:00' && time < '19:00';
}

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
  const origin = Date.UTC(2030, 0, 15, 12);
  /** The operator checks once an hour and decides by what is visible. */
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
          const [judged] = validateRows(rules, [{ row: 1, cells: header.columns.map((column) => lead[column] ?? '') }]);
          if (judged?.verdict !== 'accepted') return void deeds.push(`lead refused: ${judged?.hint}`);
          const [answer] = await hands.add(0, [{ ...judged, externalId: judged.externalId ?? '' }]);
          if (answer?.result === 'accepted') addedAt.set(lead['phone'] ?? '', sandbox.clock.now());
        }),
      );
  }
  const promised = new Map<string, string[]>();
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
      const store = drive?.store;
      if (store !== undefined) bundle = (await makeBundle(store, { e164: complains, since: null, now: drive?.clock.now() ?? 0, by: 'story' }))?.bytes ?? null; // prettier-ignore
    },
  });
  const { ledger, calls, proven, faults } = await drive.run();
  expect([...proven, ...faults.filter((fault) => !fault.startsWith('conduct'))]).toEqual([]);
  expect(deeds).toEqual(['agent 200', 'world 200']);

  expect([good.length, bad.length, addedAt.size]).toEqual([1960, 40, leads.length]);
  const added = ledger.recipients.filter(({ row_number: row }) => row > list.length);
  const rowsOf = (phone: string, row: number, isGood: boolean): Row => {
    const hours = { hours: 'Mon-Sat 09:00-20:00', zones: [zoneOf.get(phone) ?? ''] };
    return { campaignId: 'recall', row, numbers: isGood ? [phone] : [], ...hours };
  };
  const listed = list.map(({ phone = '', id = '' }, at) => rowsOf(phone, at + 1, id.startsWith('P')));
  // Callbacks: never early, once in their time, or reported as missed.
  const kept = { promises: 0, kept: 0 };
  const talked = calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt).map((call, index, all): Call & CallTruth => {
    if (call.result !== 'answered') return call;
    if (saidIn(call, 'plan') !== 'later') return { ...call, goal: saidIn(call, 'plan') === 'yes' };
    const zone = zoneOf.get(call.to) ?? '';
    const due = (call.endedAt ?? 0) + (saidBy.get(call.to) ?? 0) * minuteMs;
    const [from, until] = [due - minuteMs, due + lateMs];
    const inTime = all.slice(index + 1).filter(({ to, acceptedAt }) => to === call.to && acceptedAt >= from && acceptedAt < until);
    kept.promises += 1;
    kept.kept += inTime.length === 1 ? 1 : 0;
    const told = !isClearlyOpen(due, zone) || (promised.get(call.to) ?? []).some((state) => !state.startsWith('open'));
    return { ...call, again: { from, until: told ? Infinity : until, told } };
  }); // prettier-ignore
  const [firstAt = 0, secondAt = 0] = decided.map(({ at: when }) => when);
  const cap = { why: 'too many calls of a number', withinMs: dayMs - minuteMs, by: 'accepted' } as const;
  const found = judge({
    calls: talked,
    rows: [...listed, ...added.map(({ e164, row_number: row }) => rowsOf(e164 ?? '', row, addedAt.has(e164 ?? '')))],
    finals: ledger.recipients,
    faults: [],
    caps: [
      { ...cap, of: 'all', most: 2 * perDay },
      { ...cap, of: 'caller', most: perDay },
    ],
    // While the worker stalled; and in a pilot once each, except for callbacks.
    closed: [{ why: 'dialled while paused', by: 'accepted', from: stallsAt + minuteMs, until: stallsAt + 39 * minuteMs }],
    pilots: [{ campaignId: 'recall', by: 'accepted', decidedAt: firstAt, sample: 100 }],
    // Once the goal is reached, only callbacks are called.
    goals: [{ campaignId: 'recall', wanted: goal, isExact: false, graceMs: 20 * minuteMs }],
  });
  expect(found).toEqual([]);
  // Two samples of a hundred, each called once before the operator decided on a waiting campaign.
  expect(decided).toMatchObject([
    { state: 'paused', pilot: 'asked' },
    { state: 'paused', pilot: 'asked' },
  ]);
  const asked = new Set(talked.flatMap(({ to, again }) => (again === undefined ? [] : [to])));
  const samples = [
    talked.filter(({ acceptedAt }) => acceptedAt < firstAt),
    talked.filter(({ acceptedAt }) => acceptedAt >= firstAt && acceptedAt < secondAt),
  ];
  for (const some of samples) {
    const numbers = some.map(({ to }) => to).filter((to) => !asked.has(to));
    expect(new Set(numbers).size).toBe(numbers.length);
  }
  expect(new Set(samples[0]?.map(({ to }) => to)).size).toBe(100);
  const shares = samples.map((some) => {
    const talks = some.filter(({ result }) => result === 'answered');
    return talks.filter(({ optedOut }) => optedOut).length / talks.length;
  });
  expect(shares[0]).toBeGreaterThan(0.05);
  expect(shares[1]).toBeLessThan(0.05);
  for (const caller of new Set(calls.map(({ agentNumber }) => agentNumber)))
    expect(calls.filter(({ agentNumber }) => agentNumber === caller).length).toBeGreaterThan(perDay);
  expect(kept.promises).toBeGreaterThan(goal / 4);
  expect(kept.kept / kept.promises).toBeGreaterThan(0.45);
  expect(talked.filter((call) => call.goal === true).length).toBeGreaterThanOrEqual(goal);
  // Every row has one outcome; leads were called before others, or say why not.
  const { recipients } = ledger;
  expect(recipients).toHaveLength(2_000 + leads.length);
  expect(recipients.filter(({ outcome }) => outcome === 'rejected')).toHaveLength(40);
  const path = join(temporaryFolder(), 'bundle.zip');
  writeFileSync(path, bundle ?? Buffer.alloc(0));
  expect(spawnSync(process.execPath, ['src/presentation/evidence/check.mjs', path]).status).toBe(0);
  const text = Buffer.from(bundle ?? []).toString('latin1');
  for (const { conversationId } of calls.filter(({ to }) => to === complains)) expect(text).toContain(conversationId);
});
