import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { isFull, seedFactor } from '../support/depth.ts';
import { freePort } from '../support/free-port.ts';
import { killedCommand, lostRequests } from '../support/killed-command.ts';
import { until } from '../support/until.ts';

/** All 5,000 with `SEED_FACTOR=2`. */
const adds = isFull ? (seedFactor > 1 ? 5_000 : 1_000) : 600;
const clientCount = 8;
const mostPerRequest = 5;
const speed = 120;
/** Ten past one in New York, and ten past eight in Honolulu. */
const epochMs = Date.parse('2026-12-01T18:10:00Z');
const hours = { from: 13, to: 22 };
const expiresAfterMs = 3 * 3_600_000;
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** At these shares of all adds both the API and a worker are killed. */
const killsAt = isFull && seedFactor > 1 ? [0.15, 0.4, 0.7] : [0.3];

interface Lead {
  lead: string;
  phone: string;
  name: string;
  zone: string;
}

/** The hour of the day there. */
function hourAt(instant: number, zone: string): number {
  return Number(new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' }).format(instant));
}

test('leads that come twice by eight clients while API and worker are killed are one row each, and one call within hours and time', async () => {
  const random = new Random('leads under kills');
  const world = await createWorld({ seed: 31, concurrency: 250, speed, epochMs, faults: lostRequests });
  const spare = new FictionalNumbers('leads');
  const take = () => spare.take('+12125550121') ?? '';
  // Four of them share each name, and a tenth lives where nobody may be called for hours.
  const leads = Array.from({ length: adds / 2 }, (_, at): Lead => {
    const zone = at % 10 === 7 ? 'Pacific/Honolulu' : 'America/New_York';
    return { lead: `lead-${at}`, phone: take(), name: `Guest ${at % (adds / 8)}`, zone };
  });
  writeFileSync(world.path('list.csv'), 'lead,phone,name,zone\n');
  writeFileSync(
    world.path('leads.yaml'),
    [
      `id: ${world.id}`,
      'agent_id: agent_reminders',
      'from_phone_number_id: pn_main',
      'list: { file: list.csv, phone: phone, id: lead, timezone: zone }',
      "first_message: 'Hello {{ name }}, thank you for your message.'",
      `hours: { ${days.map((day) => `${day}: '${hours.from}:00-${hours.to}:00'`).join(', ')} }`,
      'law: off',
      'breaker: off',
      'retry: { max_attempts: 1 }',
      'pacing: { max_concurrent_calls: 200 }',
      `stays_open: { expires_after: 3h, newest_first: true }`,
      '',
    ].join('\n'),
  );
  const started = await world.run('start', world.path('leads.yaml'));
  expect(started, started.stderr).toMatchObject({ code: 0 });
  const made = await world.run('token', 'create', 'the web form', '--role', 'operate', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const port = String(await freePort());
  const api = killedCommand(world.env, ['serve', '--port', port, '--json'], '"ready"');
  const worker = killedCommand(world.env, ['worker', '--json'], '"ready":true');
  await Promise.all([api.begin(), worker.begin()]);

  /** When each lead was first said to be taken or known, by the service's clock; and every number that was sent for it. */
  const answeredAt = new Map<string, number>();
  const sentAs = new Map<string, Set<string>>();
  const kinds = new Map<string, number>();
  let taken = 0;
  let nextKill = 0;
  let kills: Promise<void> = Promise.resolve();
  /** Sends one request under its key until it is answered, whoever dies meanwhile. */
  const send = async (key: string, rows: readonly Lead[]) => {
    const body = JSON.stringify({ rows: rows.map((cells) => ({ cells })) });
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': key, 'content-type': 'application/json' };
    const answer = await until(`the API takes ${key}`, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/campaigns/${world.id}/rows`, { method: 'POST', headers, body }).catch(
        () => null,
      );
      const text = await response?.text().catch(() => null);
      // Under way: whoever carried it out was killed, perhaps.
      const isAgain = response?.status === 429 || text?.includes('under_way') === true;
      if (response == null || text == null || isAgain || response.status >= 500) return;
      return { status: response.status, text };
    });
    expect(answer, answer.text).toMatchObject({ status: 200 });
    const { rows: told } = JSON.parse(answer.text) as { rows: { result: string }[] };
    expect(told).toHaveLength(rows.length);
    for (const [at, { result }] of told.entries()) {
      kinds.set(result, (kinds.get(result) ?? 0) + 1);
      const id = rows[at]?.lead ?? '';
      if (!answeredAt.has(id)) answeredAt.set(id, world.sandbox.clock.now());
    }
    taken += rows.length;
    if (taken < adds * (killsAt[nextKill] ?? Infinity)) return;
    nextKill += 1;
    kills = kills.then(async () => void (await Promise.all([api.killAndBegin(), worker.killAndBegin()])));
  };
  // Each lead comes twice, from two clients; a form that is sent again has another number now and then.
  const clients = Array.from({ length: clientCount }, (_, client) => {
    const own = leads.filter((_, at) => at % clientCount === client);
    const others = leads.filter((_, at) => (at + 3) % clientCount === client);
    const again = others.map((lead, at) => (at % 10 === 3 ? { ...lead, phone: take() } : lead));
    const drawn = [...own, ...again].map((lead) => ({ lead, place: random.next() })).toSorted((a, b) => a.place - b.place);
    return { key: `client ${client}`, queue: drawn.map(({ lead }) => lead) };
  });
  await Promise.all(
    clients.map(async ({ key, queue }) => {
      for (let n = 1; queue.length > 0; n += 1) {
        const rows: Lead[] = [];
        for (const lead of queue.splice(0, 1 + Math.floor(random.between(0, mostPerRequest)))) {
          rows.push(lead);
          sentAs.set(lead.lead, (sentAs.get(lead.lead) ?? new Set()).add(lead.phone));
        }
        await send(`${key} request ${n}`, rows);
      }
    }),
  );
  await kills;
  expect(nextKill).toBe(killsAt.length);
  expect(taken).toBe(adds);
  expect([...kinds.keys()].sort()).toEqual(['accepted', 'known']); // prettier-ignore
  expect(kinds.get('accepted')).toBeLessThanOrEqual(leads.length);

  const status = async () => JSON.parse((await world.run('status', world.id, '--json')).stdout) as { state: string; why: string | null };
  await until('everybody is called, or expired', async () => /waits for rows/.test((await status()).why ?? ''));
  expect(await world.run('drain', world.id, '--yes')).toMatchObject({ code: 0 });
  await until('its end', async () => (await status()).state === 'completed');

  // Each lead is one row, and no row is of anybody else.
  const exported = await world.run('results', world.id, '--output', world.path('results.csv'));
  expect(exported, exported.stderr).toMatchObject({ code: 0 });
  const results = parse<Record<string, string>>(readFileSync(world.path('results.csv'), 'utf8'), { columns: true });
  const byId = new Map(results.map((row) => [row['lead'] ?? '', row]));
  expect(results.map((row) => row['lead'] ?? '').sort()).toEqual(leads.map(({ lead }) => lead).sort()); // prettier-ignore
  // From the service's own calls: whom they reached, how often, and when.
  const calls = world.sandbox.calls();
  const leadOf = new Map([...sentAs].flatMap(([id, numbers]) => [...numbers].map((number) => [number, id] as const)));
  const rang = calls.filter(({ result }) => result !== 'failed');
  expect(calls.filter(({ to }) => !leadOf.has(to))).toEqual([]);
  const calledOnce = rang.map(({ to }) => leadOf.get(to) ?? '');
  expect(calledOnce.filter((id, at) => calledOnce.indexOf(id) !== at)).toEqual([]);
  for (const { to, acceptedAt } of calls) {
    const id = leadOf.get(to) ?? '';
    expect(byId.get(id)?.['phone']).toBe(to);
    const hour = hourAt(acceptedAt, byId.get(id)?.['zone'] ?? '');
    expect(hour).toBeGreaterThanOrEqual(hours.from);
    expect(hour).toBeLessThan(hours.to);
    expect(acceptedAt).toBeLessThan((answeredAt.get(id) ?? 0) + expiresAfterMs);
  }
  expect(new Set(calledOnce).size).toBeGreaterThan(leads.length / 4);
  // Whoever was not called is told why; among them are those whose window opened too late.
  const spared = results.filter((row) => !calledOnce.includes(row['lead'] ?? ''));
  const why = new Set(spared.map((row) => row['outcome'] ?? ''));
  expect([...why].filter((outcome) => !['expired', 'unresolved', 'undialable'].includes(outcome))).toEqual([]);
  const late = spared.filter((row) => row['zone'] === 'Pacific/Honolulu' && row['reason'] === 'no_open_window_before_end');
  expect(late.length).toBeGreaterThan(0);
  const verified = await world.run('verify', world.id);
  expect(verified, verified.stdout).toMatchObject(proven);
});
