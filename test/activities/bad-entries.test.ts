import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { startHttpService } from '../service/convai/loopback-servers.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { startWorld, type ClockWorld } from './clock-world.ts';

/** Deeper than the stack allows. */
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

const badEntries: [string, string][] = [
  ['nested 200,000 deep', `{"conversation_id":"conv_deep","metadata":{"start_time":"$NOW"},"collected_data":{"a":${deep}}}`],
  ['with a NUL in its id', '{"conversation_id":"conv_\\u0000","metadata":{"start_time":"$NOW"}}'],
  ['with a NUL in its batch id', '{"conversation_id":"conv_b","metadata":{"start_time":"$NOW","batch_id":"b\\u0000"}}'],
  ['with an id of 9,000 characters', `{"conversation_id":"${'x'.repeat(9_000)}","metadata":{"start_time":"$NOW"}}`],
  ['with half a character in its id', '{"conversation_id":"conv_\\ud83d","metadata":{"start_time":"$NOW"}}'],
  ['whose id is two dots', '{"conversation_id":"..","metadata":{"start_time":"$NOW"}}'],
  ['without an id', '{"metadata":{"start_time":"$NOW"}}'],
  ['whose id is a number', '{"conversation_id":7,"metadata":{"start_time":"$NOW"}}'],
  ['whose metadata is text', '{"conversation_id":"conv_m","metadata":"none"}'],
  ['that is null', 'null'],
]; // prettier-ignore

async function startBehindProxy(world: ClockWorld, entries: readonly string[]): Promise<string> {
  const began = new Date(world.serviceNow()).toISOString();
  const proxy = await startHttpService((response, { method, url, headers, body }) => {
    const forward = async (): Promise<void> => {
      const sent = Object.entries(headers).filter(([name]) => /^(x-|content-type)/.test(name)) as [string, string][];
      const answer = await fetch(world.url + url, { method, headers: sent, ...(body === '' ? {} : { body }) });
      let text = await answer.text();
      if (/\/conversations\?/.test(url) && answer.ok) {
        const added = entries.map((entry) => entry.replace('$NOW', began));
        text = text.replace(/\],"has_more"/, `${text.includes('[]') ? '' : ','}${added.join(',')}],"has_more"`);
      }
      const date = answer.headers.get('date') ?? '';
      response.writeHead(answer.status, { 'content-type': 'application/json', date });
      response.end(text);
    };
    forward().catch(() => response.destroy());
  });
  return proxy.baseUrl;
}

test.for(dialects.flatMap((dialect) => badEntries.map(([name, entry]) => ({ dialect, name, entry }))))(
  'an entry $name in the list of the service does not stop collecting: $dialect',
  async ({ dialect, entry }) => {
    const store = await openCleanStore(dialect);
    const world = await startWorld();
    await world.import(store);
    const worker = world.worker(store, 0, await startBehindProxy(world, [entry]));
    expect(await worker.dial(1)).toBe('confirmed');
    world.real += 20 * minuteMs;
    await worker.sweep();
    world.real += 2 * minuteMs;
    await worker.sweep();
    const attempts = await store.db.selectFrom('attempts').select(['state', 'disposition']).execute();
    expect(attempts).toEqual(Array.from({ length: 4 }, () => ({ state: 'settled', disposition: 'answered' })));
    const stored = await store.db.selectFrom('conversations').select('conversation_id').execute();
    // The owner is unknown, so it is stored.
    expect(stored).toHaveLength(5);
    for (const { conversation_id: id } of stored) expect(id).toMatch(/^(unreadable:[0-9a-f]{64}|conv_\w+)$/);
  },
);

test('an entry without an id keeps the id that it was given, sweep after sweep', async () => {
  const store = await openCleanStore('sqlite');
  const world = await startWorld();
  await world.import(store);
  const entry = '{"metadata":{"start_time":"$NOW"}}';
  const worker = world.worker(store, 0, await startBehindProxy(world, [entry, entry]));
  const named = async () => {
    await worker.sweep();
    const rows = await store.db.selectFrom('conversations').select('conversation_id').execute();
    return rows.map(({ conversation_id: id }) => id).sort();
  };
  const first = await named();
  expect(first).toHaveLength(2);
  world.real += minuteMs;
  expect(await named()).toEqual(first);
});
