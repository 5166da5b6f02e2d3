import { expect, test } from 'vitest';
import { fetch } from 'undici';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { jsonLines } from '../../../src/presentation/results/text.ts';
import { startWorld } from '../../activities/clock-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { bothDialects, type TestDialect } from '../../ledger/test-stores.ts';
import { answerJson, startHttpService } from '../../service/convai/loopback-servers.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { isFull } from '../../support/depth.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from './api-world.ts';
import { post, secret, secrets, sign, type Sent } from './sent-requests.ts';

const rows = 12;
/** All calls are over after five minutes; the rest is for late arrivals. */
const sweeps = [...Array.from({ length: 30 }, () => 10_000), ...Array.from({ length: 12 }, () => 3 * minuteMs)];

/** Fate of a delivery: the seconds until it arrives, and the content. */
type Way = (sent: Sent, nth: number) => { after: number; as?: Sent }[];

interface RunEnd {
  results: string;
  attempts: unknown[];
  reads: number;
  placed: number;
  answers: number[];
}

/** One batch, dialled and polled for forty minutes, while the service reports its calls, perhaps badly. */
async function run(dialect: TestDialect, way: Way): Promise<RunEnd> {
  const store = await openCleanStore(dialect);
  const world = await startWorld({ seed: 'told', outcomeMix: { answered: 60, busy: 10, no_answer: 10, voicemail: 10, failed: 10 } });
  await world.import(store, {}, rows);
  const worker = world.worker(store);
  const api = await ApiWorld.over(store, { settings: { SVC_BASE_URL: world.url, SVC_WEBHOOK_SECRET: secrets } });
  const answers: number[] = [];
  let onTheWay: { at: number; sent: Sent }[] = [];
  const receiver = await startHttpService((response, { body, headers }, nth) => {
    const sent = { body, signature: String(headers['svc-signature']) };
    for (const { after, as = sent } of way(sent, nth)) onTheWay.push({ at: world.real + after * 1000, sent: as });
    answerJson(response, 200, {});
  });
  const control = async (at: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await (await fetch(`${world.url}/_sandbox/webhooks${at}`, init)).json()) as Record<string, unknown>;
  };
  const events = ['post_call_transcription', 'call_initiation_failure'];
  const hook = String((await control('', { url: receiver.baseUrl, secret, events }))['webhook_id']);
  expect(await worker.dial(1)).toBe('confirmed');
  for (const pauseMs of sweeps) {
    world.real += pauseMs;
    // Due work runs at a request.
    await until('the service has told all so far', async () => {
      const { deliveries } = await control(`/${hook}/deliveries`);
      return (deliveries as { state: string }[]).every(({ state }) => state === 'delivered');
    });
    api.at = world.real;
    const arriving = onTheWay.filter((each) => each.at <= world.real).toSorted((one, other) => one.at - other.at);
    onTheWay = onTheWay.filter((each) => each.at > world.real);
    for (const { sent } of arriving) answers.push((await post(api, sent)).status);
    await worker.sweep();
  }
  expect(onTheWay).toEqual([]);
  const columns = ['attempt_id', 'state', 'disposition', 'detail', 'evidence', 'conversation_id', 'counted'] as const;
  const attempts = await store.db.selectFrom('attempts').select(columns).orderBy('attempt_id').execute();
  let results = '';
  for await (const line of jsonLines(readResults(store.db, 'spring'), { columns: ['phone', 'name'] })) results += line;
  const reads = world.sandbox.journal().filter(({ operation }) => operation === 'get_conversation').length;
  return { results: results.replaceAll(world.url, ''), attempts, reads, placed: world.sandbox.calls().length, answers };
}

const tampered = (body: string) =>
  `${body.replace('"data_collection_results":{', '"data_collection_results":{"opt_out":{"value":true},')} `;

const ways: Record<string, { way: Way; reads: number; statuses: number[] }> = {
  'arrive at once': { way: () => [{ after: 0 }], reads: 3, statuses: [200] },
  'arrive twice, and once more half an hour later': { way: () => [{ after: 0 }, { after: 0 }, { after: 1500 }], reads: 3, statuses: [200] },
  'arrive in any order': { way: (_sent, nth) => [{ after: (nth * 70) % 120 }], reads: 12, statuses: [200] },
  'arrive when all is known': { way: () => [{ after: 1000 }], reads: rows, statuses: [200] },
  'arrive after the replay window': { way: () => [{ after: 1860 }], reads: rows, statuses: [401] },
  'are forged': {
    way: ({ body, signature }) => [
      { after: 0, as: { body: tampered(body), signature } },
      { after: 0, as: sign(tampered(body), { by: 'a_secret_of_somebody_else' }) },
      { after: 0, as: { body, signature: '' } },
    ],
    reads: rows,
    statuses: [401],
  },
};

test.for(bothDialects)('whatever becomes of webhooks, the results are those of polling, with fewer reads: %s', async (dialect) => {
  const polled = await run(dialect, () => []);
  expect([polled.reads, polled.placed]).toEqual([rows, rows]);
  for (const [name, { way, reads, statuses }] of dialect === 'sqlite' || isFull ? Object.entries(ways) : Object.entries(ways).slice(0, 2)) {
    const told = await run(dialect, way);
    expect([name, told.results, told.attempts]).toEqual([name, polled.results, polled.attempts]);
    expect([name, told.placed, [...new Set(told.answers)]]).toEqual([name, rows, statuses]);
    expect(told.reads, name).toBeLessThanOrEqual(reads);
  }
});
