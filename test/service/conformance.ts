import { describe, expect, test } from 'vitest';
import { readRecord } from '../../src/rules/correlation/record.ts';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import type { CallRequest, CallService } from '../../src/service/port/call-service.ts';
import { NotSentError, RefusedError } from '../../src/service/port/errors.ts';

/** A way to a service, and the service behind it as its own log shows it. */
export interface Subject {
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
export function conform(name: string, start: () => Promise<Subject>): void {
  describe(name, () => {
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
    const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
      const found: Item[] = [];
      for await (const item of items) found.push(item);
      return found;
    };

    test('a request is carried out once, for whom it names, and answered with an id', async () => {
      const subject = await start();
      const request = requestOf(subject);
      const placing = await subject.service.place(request, once());
      if (placing.kind !== 'accepted') throw new Error(placing.kind);
      expect(placing.serviceBatchId).not.toBe('');
      expect([null, 2]).toContain(placing.accepted);
      expect(Math.abs((placing.serviceMs ?? 0) - subject.now())).toBeLessThan(5_000);
      await subject.play();
      expect([...subject.called()].sort()).toEqual(numbersOf(request).sort());
    });

    test('a request that may not begin is not sent', async () => {
      const subject = await start();
      const placing = await subject.service.place(requestOf(subject), once(false));
      expect(placing).toMatchObject({ kind: 'not_sent', retryAfterMs: null, status: null });
      expect(subject.called()).toEqual([]);
    });

    test('a request to nobody there, or over a way that is closed, is not sent', async () => {
      const subject = await start();
      const { service, unreachable, agentId } = subject;
      expect(await unreachable.place(requestOf(subject), once())).toMatchObject({ kind: 'not_sent' });
      await expect(unreachable.records({ agentId })).rejects.toBeInstanceOf(NotSentError);
      await service.close();
      expect(await service.place(requestOf(subject), once())).toMatchObject({ kind: 'not_sent' });
      await expect(service.agent(agentId)).rejects.toBeInstanceOf(NotSentError);
      expect(subject.called()).toEqual([]);
    });

    test('a limit of rate is told with how long to wait, and calls nobody', async () => {
      const subject = await start();
      subject.meet('limited');
      const placing = await subject.service.place(requestOf(subject), once());
      expect(placing).toMatchObject({ kind: 'not_sent', status: 429, retryAfterMs: 30_000 });
      expect(subject.called()).toEqual([]);
    });

    test('an agent that is not there is refused, and calls nobody', async () => {
      const subject = await start();
      const request = { ...requestOf(subject), agentId: 'nobody' };
      const placing = await subject.service.place(request, once());
      expect(placing).toMatchObject({ kind: 'refused', status: expect.any(Number) as number });
      await expect(subject.service.agent('nobody')).rejects.toBeInstanceOf(RefusedError);
      expect(subject.called()).toEqual([]);
    });

    test('a request whose answer is lost is unknown, is not repeated, and is looked up as the service allows', async () => {
      const subject = await start();
      const { service } = subject;
      const request = requestOf(subject);
      subject.meet('lost after');
      const since = subject.now();
      expect(await service.place(request, once())).toMatchObject({ kind: 'unknown', status: null });
      const { mark, agentId, calls } = request;
      const found = await service.find?.({ mark, agentId, since });
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
        expect((await service.report?.(found.serviceBatchId))?.map(({ ref }) => ref)).toEqual(calls.map(({ ref }) => ref));
      }
    });

    test('a request that was lost on its way is unknown, and never found', async () => {
      const subject = await start();
      const { service } = subject;
      const request = requestOf(subject);
      subject.meet('lost before');
      expect(await service.place(request, once())).toMatchObject({ kind: 'unknown', status: null });
      await subject.play();
      expect(subject.called()).toEqual([]);
      const { mark, agentId } = request;
      const found = await service.find?.({ mark, agentId, since: 0 });
      expect(found?.kind).toBe(service.abilities.lookUp === 'records' ? undefined : 'absent');
      expect(await all(service.allRecords({ agentId }))).toEqual([]);
    });

    test('every call that is over has one record, which reads to its end and says whose it is', async () => {
      const subject = await start();
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

    test('pages lead from the first record to the last, each once', async () => {
      const subject = await start();
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

    test('what a service can do beyond that is there where it says so, and does it', async () => {
      const subject = await start();
      const { service } = subject;
      const { lookUp, namesRecipients, withdraw } = service.abilities;
      expect((['find', 'report', 'withdraw'] as const).map((method) => method in service)).toEqual([
        lookUp !== 'records',
        namesRecipients,
        withdraw !== 'nothing',
      ]);
      const request = requestOf(subject, 3);
      const placing = await service.place(request, once());
      if (placing.kind !== 'accepted') throw new Error(placing.kind);
      const { serviceBatchId } = placing;
      const [first] = request.calls;
      if (withdraw === 'recipient') await service.withdraw?.(serviceBatchId, [first?.ref ?? '']);
      await subject.play();
      const called = withdraw === 'recipient' ? request.calls.slice(1) : request.calls;
      expect([...subject.called()].sort()).toEqual(called.map(({ to }) => to).sort());
      if (!namesRecipients) return;
      const reports = (await service.report?.(serviceBatchId)) ?? [];
      expect(reports.map(({ ref, to }) => [ref, to])).toEqual(request.calls.map(({ ref, to }) => [ref, to]));
      for (const { ref, state, conversationId } of reports) {
        const isTaken = withdraw === 'recipient' && ref === first?.ref;
        expect([state, conversationId === null]).toEqual(isTaken ? ['withdrawn', true] : ['over', false]);
        if (conversationId !== null) expect((await service.record(conversationId)).facts.references).toContain(ref);
      }
    });

    test('agents, numbers to call from and the clock are read', async () => {
      const subject = await start();
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
