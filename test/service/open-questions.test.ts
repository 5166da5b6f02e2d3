import { expect, onTestFinished, test } from 'vitest';
import type { CallRequest, CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { plainNumbers, startTestSandbox } from '../sandbox/harness.ts';

const day = 24 * 3_600_000;
const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
const [agentId, callerId] = ['agent_reminders', 'pn_main'];
const people = plainNumbers(3);

/** What the published types leave open, in a service that answers it as the options say. */
async function startWorld(api: 'batch-calling' | 'campaigns', options: SandboxOptions) {
  const sandbox = await startTestSandbox({ dialect: 'published', outcomeMix, ...options });
  const service = connectService({ baseUrl: sandbox.url, apiKey: 'sk_sandbox_ok', api, retriesAfter429: { reads: 0 } });
  onTestFinished(() => service.close());
  const advance = async (ms: number) => {
    sandbox.clock.advance(ms);
    await sandbox.get('/v1/convai/agents');
  };
  const dialled = () => sandbox.calls().flatMap(({ to, dialedAt }) => (dialedAt === null ? [] : [to]));
  return { sandbox, service, advance, dialled };
}

function requestOf(mark: string): CallRequest {
  const calls = people.map((to, index) => ({ ref: `l:c/${index}/1`, to, override: null, variables: null }));
  return { mark, title: 'c/1/1', agentId, callerId, variablesKey: null, concurrency: null, calls };
}

const place = (service: CallService, mark: string) => service.place(requestOf(mark), { requestId: 'r', mayBegin: () => true });

test.each<{ what: string; campaigns: NonNullable<SandboxOptions['campaigns']>; never: string; seen: string }>([
  { what: 'keeps keys, and takes another body', campaigns: {}, never: 'absent', seen: 'accepted' },
  { what: 'refuses another body', campaigns: { otherBody: 'conflict' }, never: 'absent', seen: 'accepted' },
  { what: 'dials what is set for later at once', campaigns: { schedule: 'ignored' }, never: 'not_readable', seen: 'accepted' },
  { what: 'stops nothing that is set for later', campaigns: { stopOfScheduled: 'too_late' }, never: 'not_readable', seen: 'accepted' },
  { what: 'lists late', campaigns: { listLagMs: 60_000 }, never: 'absent', seen: 'accepted' },
  {
    what: 'refuses another body, and lists late',
    campaigns: { otherBody: 'conflict', listLagMs: 60_000 },
    never: 'absent',
    seen: 'not_readable',
  },
  { what: 'forgets keys', campaigns: { keyKeptMs: 1_000 }, never: 'absent', seen: 'accepted' },
])('a service of campaigns that $what: a look-up rings no person, and nobody is called twice', async ({ campaigns, never, seen }) => {
  const { sandbox, service, advance, dialled } = await startWorld('campaigns', { campaigns });
  const own = (await service.callers([callerId])).find(({ id }) => id === callerId)?.number;
  const find = (mark: string) => service.find?.({ mark, agentId, callerId, since: sandbox.clock.now() });
  expect((await find('never'))?.kind).toBe(never);
  await advance(3_600_000);
  // The call that a date does not hold back is over: the service has called itself.
  expect((await find('never'))?.kind).toBe(campaigns.schedule === 'ignored' ? 'absent' : never);
  await place(service, 'sent');
  expect((await find('sent'))?.kind).toBe(seen);
  await advance(31 * day);
  expect(
    dialled()
      .filter((to) => to !== own)
      .sort(),
  ).toEqual([...people].sort());
});

test('a key that may have been forgotten proves nothing for certain, and a request that is listed is found without it', async () => {
  const { sandbox, service, advance } = await startWorld('campaigns', { campaigns: { keyKeptMs: 1_000 } });
  const since = sandbox.clock.now();
  await place(service, 'sent');
  await advance(day);
  expect(await service.find?.({ mark: 'sent', agentId, callerId, since })).toMatchObject({ kind: 'accepted' });
  expect(await service.find?.({ mark: 'never', agentId, callerId, since })).toEqual({ kind: 'absent', certain: false });
});

test.each<{ what: string; batchCalling: NonNullable<SandboxOptions['batchCalling']>; first: string }>([
  { what: 'lists the oldest first', batchCalling: { listOrder: 'oldest_first' }, first: 'accepted' },
  { what: 'has short pages', batchCalling: { mostListed: 30 }, first: 'accepted' },
  { what: 'lists late', batchCalling: { listLagMs: 60_000 }, first: 'absent' },
])('a service of batches that $what: a request is found', async ({ batchCalling, first }) => {
  const { sandbox, service, advance, dialled } = await startWorld('batch-calling', { batchCalling });
  for (const earlier of ['a', 'b', 'c']) await place(service, earlier);
  await advance(3_600_000);
  const since = sandbox.clock.now();
  const before = dialled().length;
  await place(service, 'sent');
  // More than the shortest page holds.
  for (let later = 0; later < 32; later += 1) await place(service, `later ${later}`);
  const find = () => service.find?.({ mark: 'sent', agentId, callerId, since });
  expect((await find())?.kind).toBe(first);
  await advance(61_000);
  expect((await find())?.kind).toBe('accepted');
  expect(await service.find?.({ mark: 'never', agentId, callerId, since })).toEqual({ kind: 'absent', certain: false });
  await advance(3_600_000);
  expect(dialled().length - before).toBe(33 * people.length);
});

test.each<{ what: string; options: SandboxOptions; whole: boolean; says: RegExp }>([
  { what: 'whose terms are not accepted', options: { batchCalling: { termsAccepted: false } }, whole: true, says: /\(403\).*terms/ },
  { what: 'that takes fewer recipients', options: { maxCallsPerBatch: 2 }, whole: false, says: /./ },
])('a service of batches $what refuses, with what to do, and calls nobody', async ({ options, whole, says }) => {
  const { service, dialled } = await startWorld('batch-calling', options);
  const placing = await place(service, 'sent');
  expect(placing).toMatchObject({ kind: 'refused', wholeRequest: whole, message: expect.stringMatching(says) as string });
  expect(dialled()).toEqual([]);
});

test('a batch that is deleted while it is worked on has no report, and is not found again', async () => {
  const { sandbox, service } = await startWorld('batch-calling', {});
  const since = sandbox.clock.now();
  const placing = await place(service, 'sent');
  const id = placing.kind === 'accepted' ? placing.serviceBatchId : '';
  const headers = { 'x-api-key': '', 'xi-api-key': 'sk_sandbox_ok' };
  await sandbox.request('DELETE', `/v1/convai/batch-calling/${id}`, undefined, { headers });
  await expect(service.report?.(id)).rejects.toMatchObject({ status: 404 });
  expect(await service.find?.({ mark: 'sent', agentId, callerId, since })).toEqual({ kind: 'absent', certain: false });
});
