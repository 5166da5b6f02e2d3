import { describe, expect, onTestFinished, test as plainTest } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import { readRecord } from '../../src/rules/correlation/record.ts';
import type { CallRequest, CallService, Placing } from '../../src/service/port/call-service.ts';
import { NotSentError, RefusedError } from '../../src/service/port/errors.ts';
import { connectService } from '../../src/service/registry.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { openTestStore } from '../ledger/test-stores.ts';
import { plainNumbers, startTestSandbox } from '../sandbox/harness.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import { freePort } from '../support/free-port.ts';
import { secondService, startSecondService } from './second-service.ts';

const faults = {
  limited: { type: 'rate_limited', seconds: 30 },
  'lost before': { type: 'reset', when: 'before' },
  'lost after': { type: 'reset', when: 'after' },
} as const;

type Api = 'batch-calling' | 'campaigns';

/** The sandbox behind one of its interfaces. */
async function sandboxed(dialect: 'spec' | 'extended' | 'published', api?: Api): Promise<Subject> {
  const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
  const sandbox = await startTestSandbox({ dialect, outcomeMix });
  const given = api === undefined ? {} : { api };
  const connect = (baseUrl: string) => connectService({ baseUrl, apiKey: 'sk_sandbox_ok', retriesAfter429: { reads: 0 }, ...given });
  return {
    ...(await reached(connect, sandbox.url)),
    agentId: 'agent_reminders',
    callerId: 'pn_main',
    variablesKey: dialect === 'extended' ? 'variables' : null,
    meet: (fault) => void sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: faults[fault] }),
    async play() {
      sandbox.clock.advance(30 * 60_000);
      await sandbox.get('/v1/convai/agents');
    },
    called: () => sandbox.calls().flatMap(({ to, dialedAt }) => (dialedAt === null ? [] : [to])),
    now: () => sandbox.clock.now(),
  };
}

async function reached(connect: (baseUrl: string) => CallService, url: string) {
  const [service, unreachable] = [connect(url), connect(`http://127.0.0.1:${await freePort()}`)];
  onTestFinished(async () => void (await Promise.all([service.close(), unreachable.close()])));
  return { service, unreachable, numbers: plainNumbers(10) };
}

conform('the contract, with the fields that it promises', () => sandboxed('spec'));
conform('the contract, with the fields that it may have', () => sandboxed('extended'));
conform('batch calling of the published interface', () => sandboxed('published', 'batch-calling'));
conform('outbound campaigns of the published interface', () => sandboxed('published', 'campaigns'));
conform('a second service: state of each recipient, withdrawal, a mark to look up', async () => {
  const second = await startSecondService();
  return {
    ...(await reached(secondService, second.url)),
    agentId: 'second_agent',
    callerId: 'line_1',
    variablesKey: null,
    meet: (fault) => void second.faults.push(fault),
    play: async () => second.play(),
    called: () => second.dialled,
    now: Date.now,
  };
});

/** A way to a service, and the service behind it as its own log shows it. */
interface Subject {
  service: CallService;
  /** The same at an address where nothing listens. */
  unreachable: CallService;
  agentId: string;
  callerId: string;
  /** People who answer. */
  numbers: readonly string[];
  variablesKey: string | null;
  /** What the next request to dial meets. */
  meet(fault: 'limited' | 'lost before' | 'lost after'): void;
  /** Calls those who wait, and comes to the end of every call. */
  play(): Promise<void>;
  /** Whom the service took a call for and did not give back, by its own log. */
  called(): readonly string[];
  /** Epoch milliseconds at the service. */
  now(): number;
}

const lineOf = (ref: string) => `Hello, this is about ${ref}.`;
let requests = 0;

/** What every way to a service keeps, whatever the service can do. */
function conform(name: string, start: () => Promise<Subject>): void {
  describe(name, () => {
    const test = plainTest.extend('subject', () => start());
    const requestOf = (subject: Subject, count = 2): CallRequest => {
      requests += 1;
      const named = (index: number) => `ledger:campaign/${requests * 100 + index}/1`;
      const { agentId, callerId, numbers, variablesKey } = subject;
      return {
        mark: `mark-${requests}`,
        title: `campaign/1/${requests}`,
        agentId,
        callerId,
        variablesKey,
        concurrency: null,
        calls: numbers.slice(0, count).map((to, index) => ({
          ref: named(index),
          to,
          override: { agent: { first_message: lineOf(named(index)) } },
          variables: { carillon_ref: named(index) },
        })),
      };
    };
    const once = (mayBegin = true) => ({ requestId: `request/${requests}`, mayBegin: () => mayBegin });
    const numbersOf = ({ calls }: CallRequest) => calls.map(({ to }) => to);
    const isOf = (facts: ConversationFacts, { ref, to }: CallRequest['calls'][number]) =>
      facts.calleeNumber === to || facts.references.includes(ref) || facts.openingLine === lineOf(ref);
    const accepted = (placing: Placing) => {
      if (placing.kind !== 'accepted') throw new Error(placing.kind);
      return placing;
    };
    const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
      const found: Item[] = [];
      for await (const item of items) found.push(item);
      return found;
    };

    test('a request is carried out once, for whom it names, and answered with an id', async ({ subject }) => {
      const request = requestOf(subject);
      const placing = await subject.service.place(request, once());
      const { serviceBatchId, accepted: count, serviceMs } = accepted(placing);
      expect(serviceBatchId).not.toBe('');
      expect([null, 2]).toContain(count);
      expect(Math.abs((serviceMs ?? 0) - subject.now())).toBeLessThan(5_000);
      await subject.play();
      expect([...subject.called()].sort()).toEqual(numbersOf(request).sort());
    });

    test('a request that may not begin is not sent', async ({ subject }) => {
      const placing = await subject.service.place(requestOf(subject), once(false));
      expect(placing).toMatchObject({ kind: 'not_sent', retryAfterMs: null, status: null });
      expect(subject.called()).toEqual([]);
    });

    test('a request to nobody there, or over a way that is closed, is not sent', async ({ subject }) => {
      const { service, unreachable, agentId } = subject;
      expect(await unreachable.place(requestOf(subject), once())).toMatchObject({ kind: 'not_sent' });
      await expect(unreachable.records({ agentId })).rejects.toBeInstanceOf(NotSentError);
      await service.close();
      expect(await service.place(requestOf(subject), once())).toMatchObject({ kind: 'not_sent' });
      await expect(service.agent(agentId)).rejects.toBeInstanceOf(NotSentError);
      expect(subject.called()).toEqual([]);
    });

    test('a limit of rate is told with how long to wait, and calls nobody', async ({ subject }) => {
      subject.meet('limited');
      const placing = await subject.service.place(requestOf(subject), once());
      expect(placing).toMatchObject({ kind: 'not_sent', status: 429, retryAfterMs: 30_000 });
      expect(subject.called()).toEqual([]);
    });

    test('an agent that is not there is refused, and calls nobody', async ({ subject }) => {
      const request = { ...requestOf(subject), agentId: 'nobody' };
      const placing = await subject.service.place(request, once());
      expect(placing).toMatchObject({ kind: 'refused', status: expect.any(Number) as number });
      await expect(subject.service.agent('nobody')).rejects.toBeInstanceOf(RefusedError);
      expect(subject.called()).toEqual([]);
    });

    test('a request whose answer is lost is unknown, is not repeated, and is looked up as the service allows', async ({ subject }) => {
      const { service } = subject;
      const request = requestOf(subject);
      subject.meet('lost after');
      const since = subject.now();
      expect(await service.place(request, once())).toMatchObject({ kind: 'unknown', status: null });
      const { mark, agentId, callerId, calls } = request;
      const found = await service.find?.({ mark, agentId, callerId, since });
      await subject.play();
      expect([...subject.called()].sort()).toEqual(numbersOf(request).sort());
      if (service.abilities.lookUp === 'records') {
        expect(found).toBeUndefined();
        const records = await Promise.all(
          (await all(service.allRecords({ agentId }))).map(({ conversationId }) => service.record(conversationId)),
        );
        for (const call of calls) expect(records.filter(({ facts }) => isOf(facts, call))).toHaveLength(1);
      } else {
        if (found?.kind !== 'accepted') throw new Error(found?.kind);
        expect((await service.report?.(found.serviceBatchId))?.map(({ ref }) => ref).sort()).toEqual(calls.map(({ ref }) => ref).sort());
      }
    });

    test('a request that was lost on its way is unknown, and never found', async ({ subject }) => {
      const { service } = subject;
      const request = requestOf(subject);
      subject.meet('lost before');
      expect(await service.place(request, once())).toMatchObject({ kind: 'unknown', status: null });
      await subject.play();
      expect(subject.called()).toEqual([]);
      const { mark, agentId, callerId } = request;
      const found = await service.find?.({ mark, agentId, callerId, since: 0 });
      expect(found?.kind).toBe(service.abilities.lookUp === 'records' ? undefined : 'absent');
      expect(await all(service.allRecords({ agentId }))).toEqual([]);
    });

    test('every call that is over has one record, which reads to its end and says whose it is', async ({ subject }) => {
      const { service, agentId } = subject;
      const request = requestOf(subject, 5);
      await service.place(request, once());
      await subject.play();
      const listed = await all(service.allRecords({ agentId }));
      const records = await Promise.all(listed.map(({ conversationId }) => service.record(conversationId, { agentId })));
      for (const call of request.calls) expect(records.filter(({ facts }) => isOf(facts, call))).toHaveLength(1);
      for (const { facts, turns, document } of records) {
        const history = {
          reads: { unchangedReads: 1, unchangedForMs: 0 },
          overSince: 0,
          now: 3_600_000,
          analysisWaitMs: 1,
        };
        const shown = readRecord(facts, {}, history);
        expect(shown).toMatchObject({ over: true, finished: true, final: true, optOut: false });
        expect(shown.disposition?.disposition).toBe('answered');
        expect(facts.agentId).toBe(agentId);
        expect(turns.length).toBe(facts.agentTurns + facts.userTurns);
        expect(Object.keys(document)).not.toEqual([]);
      }
      await expect(service.record('nothing')).rejects.toMatchObject({ status: 404 });
    });

    test('pages lead from the first record to the last, each once', async ({ subject }) => {
      const { service, agentId } = subject;
      await service.place(requestOf(subject, 5), once());
      await subject.play();
      const seen: string[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await service.records({ agentId, pageSize: 2, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.unusable).toEqual([]);
        expect(page.records.length).toBeLessThan(5);
        expect(page.serviceDate).not.toBeNull();
        seen.push(...page.records.map(({ conversationId }) => conversationId));
        if (page.nextCursor === null) break;
        cursor = page.nextCursor;
      }
      const whole = await all(service.allRecords({ agentId }));
      expect(seen).toEqual(whole.map(({ conversationId }) => conversationId));
      expect(new Set(seen).size).toBe(5);
    });

    test('what a service can do beyond that is there where it says so, and does it', async ({ subject }) => {
      const { service } = subject;
      const { lookUp, namesRecipients, withdraw } = service.abilities;
      expect((['find', 'report', 'withdraw'] as const).map((method) => method in service)).toEqual([
        lookUp !== 'records',
        namesRecipients,
        withdraw !== 'nothing',
      ]);
      const request = { ...requestOf(subject, 3), concurrency: 1 };
      const placing = await service.place(request, once());
      const { serviceBatchId } = accepted(placing);
      const last = request.calls.at(-1);
      if (withdraw === 'recipient') await service.withdraw?.(serviceBatchId, [last?.ref ?? '']);
      await subject.play();
      const called = withdraw === 'recipient' ? request.calls.slice(0, -1) : request.calls;
      expect([...subject.called()].sort()).toEqual(called.map(({ to }) => to).sort());
      if (!namesRecipients) return;
      const reports = (await service.report?.(serviceBatchId)) ?? [];
      expect(reports.map(({ ref, to }) => `${ref} ${to}`).sort()).toEqual(request.calls.map(({ ref, to }) => `${ref} ${to}`).sort());
      for (const { ref, state, conversationId } of reports) {
        const isTaken = withdraw === 'recipient' && ref === last?.ref;
        expect([state, conversationId === null]).toEqual(isTaken ? ['withdrawn', true] : ['over', false]);
        if (conversationId !== null) expect((await service.record(conversationId)).facts.references).toContain(ref);
      }
    });

    test('what waits is told as waiting, and is called no more once it is taken back', async ({ subject }) => {
      const { service } = subject;
      if (service.abilities.withdraw === 'nothing') return;
      const request = { ...requestOf(subject, 4), concurrency: 1 };
      const placing = await service.place(request, once());
      const { serviceBatchId } = accepted(placing);
      const before = (await service.report?.(serviceBatchId)) ?? [];
      const waiting = before.filter(({ state }) => state === 'waiting').flatMap(({ ref }) => ref ?? []);
      expect(waiting.length).toBeGreaterThan(2);
      expect(before.map(({ state }) => state).filter((state) => !['waiting', 'dialling', 'talking'].includes(state ?? ''))).toEqual([]);
      await service.withdraw?.(serviceBatchId, waiting);
      await service.withdraw?.(serviceBatchId, 'all');
      await subject.play();
      const after = (await service.report?.(serviceBatchId)) ?? [];
      const taken = after.filter(({ state }) => state === 'withdrawn');
      expect(new Set(taken.map(({ ref }) => ref))).toEqual(new Set(waiting));
      expect(taken.every(({ conversationId }) => conversationId === null)).toBe(true);
      const left = request.calls.filter(({ ref }) => !waiting.includes(ref));
      expect(subject.called()).toEqual(left.map(({ to }) => to));
    });

    test('a request that is sent twice is one request where it has a key, and told as two where it has a mark', async ({ subject }) => {
      const { service } = subject;
      const { lookUp } = service.abilities;
      if (lookUp === 'records') return;
      const request = requestOf(subject);
      const since = subject.now();
      const placings = [await service.place(request, once()), await service.place(request, once())];
      const ids = placings.map((placing) => (placing.kind === 'accepted' ? placing.serviceBatchId : null));
      const { mark, agentId, callerId } = request;
      const found = await service.find?.({ mark, agentId, callerId, since });
      await subject.play();
      if (lookUp === 'key') {
        expect(ids[1]).toBe(ids[0]);
        expect(found).toEqual({ kind: 'accepted', serviceBatchId: ids[0] });
        expect(subject.called()).toHaveLength(2);
      } else {
        expect(found?.kind === 'several' ? new Set(found.serviceBatchIds) : found).toEqual(new Set(ids));
        expect(subject.called()).toHaveLength(4);
      }
    });

    test('a request that is absent for certain is carried out no more, also where it comes late', async ({ subject }) => {
      const { service } = subject;
      if (service.abilities.lookUp !== 'key') return;
      const request = requestOf(subject);
      const { mark, agentId, callerId } = request;
      const post = { mark, agentId, callerId, since: subject.now() };
      subject.meet('lost before');
      await service.place(request, once());
      const absent = { kind: 'absent', certain: true };
      expect(await Promise.all([service.find?.(post), service.find?.(post)])).toEqual([absent, absent]);
      expect(await service.find?.(post)).toEqual(absent);
      expect(await service.place(request, once())).toMatchObject({ kind: 'unknown' });
      expect(await service.find?.(post)).toEqual(absent);
      await subject.play();
      expect(subject.called()).toEqual([]);
    });

    test('a batch that is not there has no report', async ({ subject: { service } }) => {
      if (service.report !== undefined) await expect(service.report('nothing')).rejects.toMatchObject({ status: 404 });
    });

    test('agents, numbers to call from and the clock are read', async ({ subject }) => {
      const { service, agentId, callerId } = subject;
      expect(await service.agent(agentId)).toMatchObject({ id: agentId });
      expect((await all(service.agents())).map(({ id }) => id)).toContain(agentId);
      expect((await service.callers([callerId])).map(({ id }) => id)).toContain(callerId);
      const { last, connectionFailed } = service.clockReadings();
      expect(connectionFailed).toBe(false);
      expect(Math.abs((last?.serverMs ?? 0) - subject.now())).toBeLessThan(5_000);
    });
  });
}

plainTest('the activities of a campaign call each person once over a second service, also where an answer is lost', async () => {
  const second = await startSecondService();
  const service = secondService(second.url);
  onTestFinished(() => service.close());
  const store = await openTestStore('sqlite');
  const [campaignId, now] = ['second', Date.now];
  const deps = buildDependencies({ store, service, now, accountId: second.url, api: 'batch-calling' });
  const { checkCallers, plan, submit } = createActivities(deps);
  const numbers = plainNumbers(6);
  const rules = buildRules({
    agentId: 'second_agent',
    callers: { numbers: ['line_1'], choice: 'region' },
    pacing: { batchSize: 3, refillThreshold: 1 },
  });
  const input = { campaignId, name: null, fileHash: 'hash', rules, accountId: second.url, api: 'batch-calling' as const };
  const rows = buildRows(numbers, (index) => `Guest ${index}`);
  await importCampaign(store, input, {
    chunks: (async function* () {
      yield rows;
    })(),
    now: now(),
  });
  await openRound(store, campaignId, now());

  expect(await checkCallers({ campaignId })).toEqual({ ok: true });
  const verdicts: string[] = [];
  for (const fault of [null, 'lost after'] as const) {
    const planned = await plan({ campaignId, round: 1, batchNumber: verdicts.length + 1 });
    if (planned.kind !== 'batch') throw new Error(planned.kind);
    if (fault !== null) second.faults.push(fault);
    const said = await submit({ batchId: planned.batchId });
    verdicts.push(said.kind === 'verdict' ? said.state : said.kind);
  }
  expect(verdicts).toEqual(['confirmed', 'unknown']);
  second.play();
  expect([...second.dialled].sort()).toEqual([...numbers].sort());
  const { agentId, timing } = rules;
  const sweep = await sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  expect(sweep.kind).toBe('complete');

  const people = await store.db.selectFrom('recipients').select(['e164', 'outcome']).execute();
  expect(people.map(({ outcome }) => outcome)).toEqual(numbers.map(() => 'completed'));
  const states = await store.db.selectFrom('batches').select(['state', 'accepted_by']).orderBy('n').execute();
  expect(states).toEqual([
    { state: 'confirmed', accepted_by: 'reply' },
    { state: 'confirmed', accepted_by: 'look_up' },
  ]);
  const proof = await verifyLog(store.db, null);
  expect(proof.rules.flatMap(({ violations }) => violations)).toEqual([]);
});
