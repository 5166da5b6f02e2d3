import { RefusedError } from '../../../src/service/port/errors.ts';
import type { CallReport, CallService } from '../../../src/service/port/call-service.ts';
import type { ServiceApi } from '../../../src/rules/service-api.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { asReported } from './draw-mix.ts';
import type { CampaignPlan, Mix, WorldEvent } from '../mix.ts';
import { noon } from '../../sandbox/manual-clock.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { several } from './around.ts';
import type { Kind } from './kinds.ts';
import { strangerAt, type Person } from '../population.ts';

type Drawn = Omit<Mix, 'seed'>;

/** What a reporting service is judged by, beyond the promises of all. */
export interface ReportedSide {
  mix: Drawn;
  /** How long after a wish a phone that it forbids may ring; null: nothing is taken back. */
  graceMs: number | null;
  /** Batches cannot be read, or what they say is not true: people may be left in doubt. */
  isDoubtful: boolean;
  /** The service itself makes two batches of one request. */
  isTwice: boolean;
}

export function reportingSide(mix: Drawn, { name, api, people, random }: Scene): ReportedSide {
  const side = asReported(mix, api, random);
  const plain = { mix: side, graceMs: null, isDoubtful: false, isTwice: false };
  return { ...plain, ...reportedKinds[name]?.side(side, { name, api, people, random }) };
}

interface Scene {
  name: string;
  api: Exclude<ServiceApi, 'contract'>;
  people: Person[];
  random: Random;
}

interface ReportedKind extends Kind {
  side: (mix: Drawn, scene: Scene) => Partial<ReportedSide>;
}

/** So few lines that most of a batch waits at the service. */
function queueing(mix: Drawn, random: Random): Drawn {
  return { ...mix, sandbox: { ...mix.sandbox, concurrency: random.pick([1, 2, 4]), meanTalkSeconds: 60 } };
}

function rowsChanged(campaigns: CampaignPlan[], change: object): CampaignPlan[] {
  return campaigns.map((plan) => ({ ...plan, rows: plan.rows.map((row) => ({ ...row, ...change })) }));
}

const crowd = (): ReturnType<NonNullable<Kind['crowd']>> => ({ count: 20, answering: 0.5, optOutEvery: 7, hasty: false });

/** Whose they are, reports alone tell. */
const namingNobody = { number_shown: 0, batch_shown: 0, reference_shown: 0 };

/** While most of the first batch waits. */
function early(random: Random): number {
  return Math.round(random.between(1_000, 4 * minuteMs));
}

/** A process that dies around a withdrawal, or a lost answer, is taken up again late. */
function graceOf({ strikes = [], hangs = [], faults = [], provenLagMs = 0 }: Drawn): number {
  const isTroubled = strikes.length + hangs.length + faults.length > 0;
  return (isTroubled ? 25 * minuteMs : 4 * minuteMs) + 3 * provenLagMs;
}

/** Worlds that need a service which queues calls, reports them, and gives them back. */
export const reportedKinds: Record<string, ReportedKind> = {
  paused: {
    crowd,
    draw: (random) => ({ kills: random.chance(0.4) }),
    side: (mix, { random }) => {
      const change = random.pick(['pause', 'pause', 'cancel', 'drain'] as const);
      const events = [{ afterMs: early(random), happen: (_, { change: wish }) => wish(0, change) } satisfies WorldEvent];
      return { mix: { ...queueing(mix, random), events, resumeAfterMs: 45 * minuteMs }, graceMs: graceOf(mix) };
    },
  },
  suppressed: {
    crowd,
    draw: (random) => ({ kills: random.chance(0.3), second: random.chance(0.3) }),
    side: (mix, { random, people }) => {
      const events = several(random, [2, 5], () => {
        const { e164 } = random.pick(people as [Person, ...Person[]]);
        return { afterMs: early(random), happen: (_, { suppress }) => suppress(e164) } satisfies WorldEvent;
      });
      return { mix: { ...queueing(mix, random), events }, graceMs: graceOf(mix) };
    },
  },
  closing: {
    crowd,
    draw: () => ({}),
    side: (mix, { random }) => {
      const minutes = Math.floor(random.between(12, 25));
      const queued = queueing(mix, random);
      const { campaigns } = queued;
      const hours = `07:00-07:${minutes}`;
      const endsAt = noon + minutes * minuteMs;
      const changed = random.chance(0.5)
        ? rowsChanged(campaigns, { hours })
        : campaigns.map((plan) => ({ ...plan, rules: { ...plan.rules, endsAt } }));
      return { mix: { ...queued, campaigns: changed }, graceMs: graceOf(mix) };
    },
  },
  deleted: {
    draw: (random) => ({ kills: random.chance(0.3) }),
    side: (mix, { api, random }) => {
      const queued = random.chance(0.5) ? queueing(mix, random) : mix;
      const nths = new Set([1, 2, 3].filter(() => random.chance(0.6)));
      const at = early(random);
      if (api === 'batch-calling')
        return {
          mix: { ...queued, events: [{ afterMs: at, happen: deleteBatches }] },
          isDoubtful: true,
        };
      return { mix: { ...queued, wrapService: (service) => goneAfter(service, nths) }, isDoubtful: true };
    },
  },
  untrue: {
    draw: (random) => ({ kills: random.chance(0.3), ...(random.chance(0.5) ? { records: namingNobody } : {}) }),
    side: (mix, { random }) => {
      const share = random.pick([0.1, 0.4]);
      const seed = random.between(0, 1);
      return { mix: { ...mix, wrapService: (service) => untrue(service, share, seed) }, isDoubtful: true };
    },
  },
  twice: {
    draw: () => ({}),
    side: (mix, { api, random }) => {
      const nths = new Set([1, 2, 3].filter(() => random.chance(0.7)));
      const status = random.pick([null, 500, 408, 429, 422]);
      return {
        mix: { ...mix, wrapService: (service) => lost(service, nths, 2, status) },
        isDoubtful: api === 'batch-calling',
        isTwice: true,
      };
    },
  },
  named_late: {
    draw: () => ({ records: namingNobody }),
    side: (mix) => ({ mix: { ...mix, wrapService: namedLate } }),
  },
  unlisted: {
    draw: () => ({}),
    side: (mix, { api, random }) => {
      if (api === 'campaigns') return {};
      const nths = new Set([1, 2, 3].filter(() => random.chance(0.7)));
      return { mix: { ...mix, provenLagMs: 0, wrapService: (service) => unlisted(lost(service, nths, 1)) }, isDoubtful: true };
    },
  },
  lagging: {
    draw: (random) => ({
      kills: true,
      ...(random.chance(0.5) ? { records: namingNobody } : {}),
    }),
    side: (mix, { random }) => {
      const [listLagMs, reportLagMs] = [random.pick([minuteMs, 10 * minuteMs, 25 * minuteMs]), random.pick([minuteMs, 10 * minuteMs])];
      const { batchCalling, campaigns } = mix.sandbox;
      const sandbox = {
        ...mix.sandbox,
        batchCalling: { ...batchCalling, listLagMs, reportLagMs },
        campaigns: { ...campaigns, listLagMs, reportLagMs },
      };
      return { mix: { ...mix, sandbox, provenLagMs: listLagMs } };
    },
  },
};

/** As by hand in the service's dashboard. */
const deleteBatches: WorldEvent['happen'] = async (sandbox) => {
  for (const batchId of new Set(sandbox.calls().flatMap((call) => call.batchId ?? [])))
    await fetch(`${sandbox.url}/v1/convai/batch-calling/${batchId}`, { method: 'DELETE', headers: { 'xi-api-key': 'sk_sandbox_ok' } });
};

/** From the third report on, its nth batches are unknown. */
function goneAfter(service: CallService, nths: ReadonlySet<number>): CallService {
  const seen = new Map<string, number>();
  return {
    ...service,
    async report(serviceBatchId) {
      const reads = (seen.get(serviceBatchId) ?? 0) + 1;
      seen.set(serviceBatchId, reads);
      const nth = [...seen.keys()].indexOf(serviceBatchId) + 1;
      if (reads < 3 || !nths.has(nth)) return (await service.report?.(serviceBatchId)) ?? [];
      const request = { method: 'GET', path: '/gone', requestId: null };
      throw new RefusedError(request, 404, '', { message: 'There is no such campaign.', code: 'not_found', fields: [] });
    },
  };
}

/** Its reports leave people out, swap them, or swap their names or numbers; always the same people. */
function untrue(service: CallService, share: number, seed: number): CallService {
  return {
    ...service,
    async report(serviceBatchId) {
      const told = (await service.report?.(serviceBatchId)) ?? [];
      const isSwapped = new Random('swapped', seed, serviceBatchId).chance(share);
      // Two by two.
      const reports = told.map((report, index) => (isSwapped ? { ...report, ref: (told[index ^ 1] ?? report).ref } : report));
      return reports.flatMap((report, index): CallReport[] => {
        const random = new Random('untrue', seed, serviceBatchId, index);
        if (!random.chance(share)) return [report];
        const other = reports[(index + 1) % reports.length] ?? report;
        return random.pick<CallReport[]>([
          [],
          [{ ...report, to: strangerAt(3) }],
          [{ ...report, ref: 'of-somebody-else' }],
          [{ ...report, to: other.to }],
          [{ ...report, ref: other.ref }],
          [report, report],
          [{ ...report, state: null }],
        ]);
      });
    },
  };
}

/** Makes `times` batches of its nth requests, and answers with this status; null: the answers are lost. */
function lost(service: CallService, nths: ReadonlySet<number>, times: number, status: number | null = null): CallService {
  let nth = 0;
  return {
    ...service,
    async place(request, once) {
      nth += 1;
      const placed = await service.place(request, once);
      if (!nths.has(nth) || placed.kind !== 'accepted') return placed;
      for (let more = 1; more < times; more += 1) await service.place(request, once);
      const answer = { status, requestId: null, serviceMs: null, fault: 'lost' };
      if (status === 429) return { kind: 'not_sent', retryAfterMs: 2_000, ...answer };
      return status === 422 ? { kind: 'refused', wholeRequest: false, message: null, ...answer } : { kind: 'unknown', ...answer };
    },
  };
}

/** Its list never shows what it took. */
function unlisted(service: CallService): CallService {
  return { ...service, find: async () => ({ kind: 'absent', certain: false }) };
}

/** Its reports name a conversation from the second read after its end. */
function namedLate(service: CallService): CallService {
  const seen = new Set<string>();
  return {
    ...service,
    async report(serviceBatchId) {
      const reports = (await service.report?.(serviceBatchId)) ?? [];
      return reports.map((report) => {
        if (report.ref === null || report.state !== 'over') return { ...report, conversationId: null };
        if (seen.has(report.ref)) return report;
        seen.add(report.ref);
        return { ...report, conversationId: null };
      });
    },
  };
}
