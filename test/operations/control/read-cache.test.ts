import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { ReadCache } from '../../../src/operations/control/read-cache.ts';

test('a reading that takes too long is not waited for, and is there for a later look', async () => {
  const cache = new ReadCache();
  const database = new EventEmitter();
  let made = 0;
  const look = (withinMs: number) =>
    cache.readWithin(withinMs, 'key', async () => {
      made += 1;
      return once(database, 'answer');
    });
  expect(await look(1)).toBeNull();
  database.emit('answer', 'read');
  expect(await look(60_000)).toEqual(['read']);
  expect(made).toBe(1);
});

test('a reading that fails after nobody waits for it any more fails nothing else, and is begun anew', async () => {
  const cache = new ReadCache();
  const database = new EventEmitter();
  const answer = once(database, 'answer');
  expect(await cache.readWithin(1, 'key', () => answer)).toBeNull();
  database.emit('error', new Error('the database is away'));
  await expect(answer).rejects.toThrow('the database is away');
  expect(await cache.readWithin(60_000, 'key', async () => ['read'])).toEqual(['read']);
});

test('what keeps the process busy begins when somebody has been answered, and once however many ask', async () => {
  const cache = new ReadCache();
  let made = 0;
  const look = async () => cache.readWithin(0, 'key', async () => (made += 1));
  expect(await Promise.all([look(), look()])).toEqual([null, null]);
  expect(made).toBe(0);
  await cache.beginLater();
  expect(made).toBe(1);
  expect(await look()).toBe(1);
});

test('what was costly to read is given out once more, and read anew when somebody has been answered', async () => {
  let at = 0;
  const cache = new ReadCache(() => at);
  let made = 0;
  const look = async () =>
    cache.read('key', async () => {
      at += 100;
      return (made += 1);
    });
  expect(await look()).toBe(1);
  at += 60_000;
  expect([await look(), await look(), made]).toEqual([1, 1, 1]);
  await cache.beginLater();
  expect([await look(), made]).toEqual([2, 2]);
});
