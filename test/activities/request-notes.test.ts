import { expect, onTestFinished, test, vi } from 'vitest';
import { openRequestNotes, type RequestNotes } from '../../activities/request-notes.ts';
import { resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { asActivity, openNoWitness } from '../support/activity-context.ts';
import { submittingWorker } from '../support/submitting-worker.ts';

type Options = NonNullable<Parameters<typeof asActivity>[1]>;

/** The test decides when the server takes heartbeats; `sent`: all, in order. */
function watched(heartbeatDetails?: unknown) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const sent: unknown[] = [];
  const answers: { taken: () => void; lost: () => void }[] = [];
  const client = {
    withDeadline: (_at: number, work: () => unknown) => work(),
    activity: {
      heartbeat: (_token: unknown, details: unknown) => {
        sent.push({ awaited: details });
        return new Promise<void>((resolve, reject) => {
          answers.push({ taken: resolve, lost: () => reject(new Error('deadline exceeded')) });
        });
      },
    },
  };
  const options = {
    info: { taskToken: new Uint8Array(1), heartbeatDetails },
    heartbeat: (details: unknown) => void sent.push({ own: details }),
    client: client as unknown as Options['client'],
  } as Options;
  return { sent, answers, open: () => asActivity(async () => openRequestNotes(1_000, 10_000), options) };
}

const post = (n: number) => ({ batchId: `spring/1/${n}`, k: 1 });

async function noteFirst() {
  const { sent, answers, open } = watched();
  const requestNotes = await open();
  const noting = requestNotes.note(post(1));
  await vi.advanceTimersByTimeAsync(0);
  answers[0]?.taken();
  await noting;
  return { sent, requestNotes };
}

test('a POST is noted after every heartbeat before it was taken, and every later one repeats it', async () => {
  const { sent, answers, open } = watched(post(1));
  const requestNotes = await open();
  expect(requestNotes.last).toEqual(post(1));
  await vi.advanceTimersByTimeAsync(1_000);
  let noted = false;
  const noting = requestNotes.note(post(2)).then(() => (noted = true));
  await vi.advanceTimersByTimeAsync(500);
  expect(sent).toEqual([{ awaited: post(1) }]);
  answers[0]?.taken();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([{ awaited: post(1) }, { awaited: post(2) }]);
  expect(noted).toBe(false);
  answers[1]?.taken();
  await noting;
  await vi.advanceTimersByTimeAsync(2_000);
  requestNotes.close();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.slice(2)).toEqual([{ own: post(2) }, { own: post(2) }, { own: post(2) }]);
});

test('while batches follow each other, no heartbeat is under way that could take back the next note', async () => {
  const { sent, answers, open } = watched();
  const requestNotes = await open();
  for (const n of [1, 2]) {
    const noting = requestNotes.note(post(n));
    await vi.advanceTimersByTimeAsync(0);
    answers[n - 1]?.taken();
    await noting;
    await vi.advanceTimersByTimeAsync(300);
    requestNotes.answered();
    expect(requestNotes.mayGoOn).toBe(true);
  }
  // Work between two POSTs is awaited like the notes.
  await vi.advanceTimersByTimeAsync(500);
  expect(requestNotes.mayGoOn).toBe(false);
  requestNotes.close();
  expect(sent).toEqual([{ awaited: post(1) }, { awaited: post(2) }, { awaited: post(2) }]);
});

test('no batch follows a POST that took so long that the worker sent a heartbeat of its own', async () => {
  const { sent, requestNotes } = await noteFirst();
  await vi.advanceTimersByTimeAsync(1_000);
  requestNotes.answered();
  expect(requestNotes.mayGoOn).toBe(false);
  requestNotes.close();
  expect(sent).toEqual([{ awaited: post(1) }, { own: post(1) }]);
});

test('a heartbeat that may still arrive makes the note uncertain', async () => {
  const { sent, answers, open } = watched();
  const requestNotes = await open();
  await vi.advanceTimersByTimeAsync(1_000);
  answers[0]?.lost();
  await expect(requestNotes.note(post(1))).rejects.toThrow('deadline exceeded');
  await vi.advanceTimersByTimeAsync(3_000);
  requestNotes.close();
  expect(sent).toEqual([{ awaited: null }]);
});

async function begin(dialect: (typeof dialects)[number], requestNotes: () => Partial<RequestNotes>) {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.plan(1);
  const given = { openRequestNotes: () => ({ ...openNoWitness(), ...requestNotes() }) };
  const { submit, posts } = submittingWorker(store, given);
  return { store, scenario, posts, submit: () => submit({ batchId: scenario.batchId(1) }) };
}

test.for(dialects)('nothing is sent while Temporal does not record that it will be: %s', async (dialect) => {
  let isUp = false;
  const note = () => (isUp ? Promise.resolve() : Promise.reject(new Error('unavailable')));
  const { store, scenario, posts, submit } = await begin(dialect, () => ({ note }));
  const failure = { type: 'NotSent' };
  await expect(submit()).rejects.toMatchObject(failure);
  expect(await scenario.batch(1)).toMatchObject({ state: 'not_sent', posts: 1 });
  await expect(submit()).rejects.toMatchObject(failure);
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
  await expect(submit()).rejects.toMatchObject(failure);
  expect(await scenario.campaign()).toMatchObject({
    state: 'paused',
    stateReason: expect.stringContaining('Temporal did not record 3 requests in a row') as string,
  });
  expect(posts).toEqual([]);
  await resumeCampaign(store, { campaignId: 'spring', now: noon });
  isUp = true;
  expect(await submit()).toMatchObject({ kind: 'verdict', state: 'confirmed' });
  expect(posts).toEqual(['spring/1/1/4']);
});

test.for(dialects)('a request that the server knows of and the ledger does not is not made again: %s', async (dialect) => {
  const { scenario, posts, submit } = await begin(dialect, () => ({ last: { batchId: 'spring/1/1', k: 1 } }));
  await expect(submit()).rejects.toMatchObject({ type: 'LedgerOlder', nonRetryable: true });
  expect(await scenario.campaign()).toMatchObject({
    state: 'failed',
    stateReason: "The ledger is older than the campaign's progress: request 1 of batch spring/1/1 is missing.",
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  expect(posts).toEqual([]);
});

test('a submit that gets nowhere for longer than a POST may take is heard of no more', async () => {
  const { sent, requestNotes } = await noteFirst();
  await vi.advanceTimersByTimeAsync(60_000);
  // The note, and one per second for ten seconds.
  expect(sent).toHaveLength(11);
  requestNotes.close();
});
