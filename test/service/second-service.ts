import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { noPointers, type ConversationFacts } from '../../src/rules/conversation-facts.ts';
import { createTransport, type Success } from '../../src/service/http/transport.ts';
import { type CallReport, type CallService, type Found, type ServiceRecord, placingOf } from '../../src/service/port/call-service.ts';
import { BadResponseError, ServiceError } from '../../src/service/port/errors.ts';

/** One call as the second service tells it. */
interface Talk {
  id: string;
  batch: string;
  agent: string;
  ref: string;
  number: string;
  state: CallReport['state'];
  /** Epoch seconds. */
  began: number | null;
  lines: { by: string; says: string }[];
}
interface Batch {
  id: string;
  mark: string;
  agent: string;
}
interface Person {
  ref: string;
  number: string;
  line: string | null;
}

export type SecondFault = 'limited' | 'lost before' | 'lost after';

const agents = [{ id: 'second_agent', name: 'Second' }];
const lines = [{ id: 'line_1', number: '+442079460199', name: 'Main', checked: true }];
const pageSize = 3;

/** Not the contract's: takes a mark with a batch, shows the state of each recipient, takes calls back until they are dialled. */
export async function startSecondService(now: () => number = Date.now) {
  const batches: Batch[] = [];
  const talks: Talk[] = [];
  const faults: SecondFault[] = [];
  const dialled: string[] = [];

  const submit = ({ people, ...batch }: Omit<Batch, 'id'> & { people: Person[] }): Batch => {
    const made = { ...batch, id: `batch_${batches.length + 1}` };
    batches.push(made);
    for (const { ref, number, line } of people)
      talks.push({
        id: `talk_${talks.length + 1}`,
        batch: made.id,
        agent: batch.agent,
        ref,
        number,
        state: 'waiting',
        began: null,
        lines: [
          { by: 'machine', says: line ?? 'Hello.' },
          { by: 'person', says: 'Yes, I will be there.' },
        ],
      });
    return made;
  };
  const answerGet = (path: string, query: URLSearchParams): unknown => {
    const [, , room, id] = path.split('/');
    const mine = <Item extends { agent: string }>(items: readonly Item[]) =>
      items.filter(({ agent }) => query.get('agent') === null || agent === query.get('agent'));
    if (room === 'agents') return id === undefined ? agents : agents.find((agent) => agent.id === id);
    if (room === 'lines') return lines;
    if (room === 'batches' && id === undefined) return mine(batches);
    if (room === 'batches') return batches.some((batch) => batch.id === id) ? talks.filter((talk) => talk.batch === id) : undefined;
    const shown = talks.filter(({ began }) => began !== null);
    if (id !== undefined) return shown.find((talk) => talk.id === id);
    const from = Number(query.get('from') ?? 0);
    const list = mine(shown).toReversed();
    return {
      talks: list.slice(from, from + pageSize),
      next: from + pageSize < list.length ? String(from + pageSize) : null,
    };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://second');
      const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
        response.writeHead(status, {
          'content-type': 'application/json',
          date: new Date(now()).toUTCString(),
          ...headers,
        });
        response.end(JSON.stringify(body));
      };
      if (request.method === 'GET') {
        const found = answerGet(pathname, searchParams);
        return found === undefined ? answer(404, { error: 'not there' }) : answer(200, found);
      }
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as never;
      const [, , , id, verb] = pathname.split('/');
      if (verb === 'withdraw') {
        const { refs } = body as { refs: string[] | 'all' };
        for (const talk of talks)
          if (talk.batch === id && talk.state === 'waiting' && (refs === 'all' || refs.includes(talk.ref))) talk.state = 'withdrawn';
        return answer(200, {});
      }
      const fault = faults.shift();
      if (fault === 'limited') return answer(429, { error: 'later' }, { 'retry-after': '30' });
      if (fault === 'lost before') return request.socket.destroy();
      if (!agents.some((agent) => agent.id === (body as Batch).agent)) return answer(422, { error: 'no such agent' });
      const batch = submit(body);
      return fault === 'lost after' ? request.socket.destroy() : answer(201, { id: batch.id });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    /** Whom it called, in order. */
    dialled,
    /** Calls who waits, and comes to the end of every talk. */
    play: () => {
      for (const talk of talks.filter(({ state }) => state === 'waiting')) {
        dialled.push(talk.number);
        Object.assign(talk, { state: 'over', began: Math.floor(now() / 1000) });
      }
    },
  };
}

function json(success: Success): unknown {
  return JSON.parse(success.body.toString('utf8')) as unknown;
}

function factsOf(talk: Talk): ConversationFacts {
  const ended = talk.state === 'over';
  const startedAt = talk.began === null ? null : talk.began * 1000;
  return {
    conversationId: talk.id,
    agentId: talk.agent,
    direction: 'outbound',
    calleeNumber: talk.number,
    batchId: talk.batch,
    references: [talk.ref],
    status: ended ? 'done' : 'in-progress',
    startedAt,
    endedAt: null,
    durationMs: ended ? 20_000 : null,
    callResult: ended ? 'answered' : null,
    terminationReason: null,
    hasTranscript: true,
    openingLine: talk.lines[0]?.says ?? null,
    agentTurns: talk.lines.filter(({ by }) => by === 'machine').length,
    userTurns: talk.lines.filter(({ by }) => by === 'person').length,
    audio: null,
    collected: {},
    evaluation: {},
  };
}

/** The way to it: one file, over the transport of the contract's client. */
export function secondService(baseUrl: string): CallService {
  const transport = createTransport({
    baseUrl,
    apiKey: 'second',
    keyHeader: 'x-api-key',
    allowInsecure: false,
    readsPerSecond: 1_000,
    retriesAfter429: { reads: 0, changes: 0 },
    timeouts: { connectMs: 5_000, headersMs: 5_000, bodyMs: 5_000 },
    nowReal: Date.now,
  });
  const get = async (path: string, query?: Record<string, string | undefined>) => json(await transport.read(`/api/${path}`, query));
  const post = (path: string, body: unknown) => ({
    method: 'POST' as const,
    path: `/api/${path}`,
    body: Buffer.from(JSON.stringify(body)),
  });
  const listed = async (agent: string | undefined, from: string | undefined) => {
    const success = await transport.read('/api/talks', { agent, from });
    const { talks, next } = json(success) as { talks: Talk[]; next: string | null };
    return { talks, next, serverMs: success.request.serviceMs ?? null, success };
  };
  return {
    abilities: { lookUp: 'mark', namesRecipients: true, withdraw: 'recipient' },
    async place({ mark, agentId: agent, callerId, calls }, once) {
      const people = calls.map(({ ref, to: number, override }) => ({
        ref,
        number,
        line: (override?.['agent'] as { first_message?: string } | undefined)?.first_message ?? null,
      }));
      try {
        const success = await transport.write({
          ...post('batches', { mark, agent, line: callerId, people }),
          dials: true,
          ...once,
        });
        const { id } = json(success) as { id?: string };
        if (id === undefined) throw new BadResponseError(success.request, success.status, ['no id']);
        return { kind: 'accepted', serviceBatchId: id, accepted: null, serviceMs: success.request.serviceMs ?? null };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return placingOf(error, () => true);
      }
    },
    async find({ mark, agentId }): Promise<Found> {
      const found = ((await get('batches', { agent: agentId })) as Batch[]).filter((batch) => batch.mark === mark);
      if (found.length > 1) return { kind: 'several', serviceBatchIds: found.map(({ id }) => id) };
      return found[0] === undefined ? { kind: 'absent', certain: false } : { kind: 'accepted', serviceBatchId: found[0].id };
    },
    async report(id) {
      return ((await get(`batches/${id}`)) as Talk[]).map((talk) => ({
        ref: talk.ref,
        to: talk.number,
        state: talk.state,
        result: talk.state === 'over' ? 'answered' : null,
        conversationId: talk.began === null ? null : talk.id,
      }));
    },
    async withdraw(id, refs) {
      await transport.write(post(`batches/${id}/withdraw`, { refs }));
    },
    async record(id): Promise<ServiceRecord> {
      const talk = (await get(`talks/${encodeURIComponent(id)}`)) as Talk;
      const turns = talk.lines.map(({ by, says }) => ({ speaker: by, text: says, time: null }));
      return { facts: factsOf(talk), turns, document: { ...talk } };
    },
    async records({ agentId, cursor }) {
      const { talks, next, serverMs, success } = await listed(agentId, cursor);
      const { sentAtMs, receivedAtMs } = success;
      return {
        records: talks.map(factsOf),
        unusable: [],
        hasMore: next !== null,
        nextCursor: next,
        serviceDate: serverMs === null ? null : { serverMs, sentAtMs, receivedAtMs },
      };
    },
    async *allRecords({ agentId }, _pointers = noPointers) {
      for (let from: string | undefined; ;) {
        const { talks, next } = await listed(agentId, from);
        yield* talks.map(factsOf);
        if (next === null) return;
        from = next;
      }
    },
    agent: async (id) => (await get(`agents/${encodeURIComponent(id)}`)) as { id: string; name: string },
    async *agents() {
      yield* (await get('agents')) as { id: string; name: string }[];
    },
    async callers() {
      const found = (await get('lines')) as typeof lines;
      return found.map(({ id, number, name, checked }) => ({ id, number, label: name, verified: checked }));
    },
    clockReadings: () => transport.clockReadings(),
    close: () => transport.close(),
  };
}
