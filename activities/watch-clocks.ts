import type { ClockReading, ServiceClock, ServiceDate } from '../src/service/port/service-clock.ts';
import type { CorrelationClock } from '../src/rules/correlation/correlation.ts';
import type { ClockStep } from '../src/rules/events.ts';
import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import { findKeptReading, keepReading, noteSteps, type ServiceTime } from '../src/ledger/dial/clocks.ts';
import { campaignIdOf } from '../src/ledger/ledger-older.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf } from './failures.ts';
import { keepQuiet, quietTime } from './quiet-time.ts';

/** The Date header has whole seconds. */
const dateResolutionMs = 1_000;

/** Assumes that the clocks agree. */
export const assumedClock: CorrelationClock = { offsetMs: 0, uncertaintyMs: 2_000 };

/** A slow answer's reading is poor; without a better one it counts only if it shows that the clocks differ. */
export function isBetterReading(reading: CorrelationClock, known: CorrelationClock): boolean {
  if (reading.uncertaintyMs < known.uncertaintyMs) return true;
  return known === assumedClock && Math.abs(reading.offsetMs) > reading.uncertaintyMs + known.uncertaintyMs;
}

/** Offset of the service's clock from the one that stamped the attempts. */
export function readClock(date: ServiceDate | null, clock: ServiceClock, nowReal: number): CorrelationClock | undefined {
  if (date === null) return undefined;
  const at = (realMs: number) => clock.now() + (realMs - nowReal) * clock.speed;
  const [sentAt, receivedAt] = [at(date.sentAtMs), at(date.receivedAtMs)];
  const halfTrip = (receivedAt - sentAt) / 2;
  return {
    offsetMs: Math.round(date.serverMs + dateResolutionMs / 2 - (sentAt + halfTrip)),
    uncertaintyMs: Math.ceil(halfTrip + dateResolutionMs / 2),
  };
}

/** A reading older than this is refreshed before a POST. Real time, like all here not named service time. */
const refreshAfterMs = 60_000;
/** After this the POST itself reads the clock. */
const longestRefreshMs = 10_000;
/** Tolerance for a stalling machine when a sandbox runs fast; anything less is no step. */
const leastStepMs = 5_000;
const keepEveryMs = 30_000;
const resolutionMs = 1_000;

/** The last reading per service, compared with the next. */
interface ClockSnapshot {
  wallMs: number;
  monotonicMs: number;
  reading: ClockReading | null;
  keptAt: number;
  apartMs: number;
}
const snapshots = new WeakMap<ActivityDependencies['service'], ClockSnapshot>();

/** A span of service time, with bounds of its real time. */
interface Span {
  serviceMs: number;
  leastRealMs: number;
  mostRealMs: number;
}

/** By how much service time exceeds what its real time allows; negative: falls short. */
function excess({ serviceMs, leastRealMs, mostRealMs }: Span, speed: number): number {
  return Math.max(0, serviceMs - resolutionMs - mostRealMs * speed) - Math.max(0, leastRealMs * speed - serviceMs - resolutionMs);
}

/** Service time since the previous reading, or an earlier worker's; null: nothing new. */
async function spanOfService(
  { store, accountId }: ActivityDependencies,
  { last, ageMs, before }: { last: ClockReading | null; ageMs: number; before: ClockReading | null },
): Promise<Span | null> {
  if (last === null || last === before) return null;
  if (before !== null) {
    const mostRealMs = last.monotonicMs - before.monotonicMs + before.tripMs;
    const leastRealMs = mostRealMs - before.tripMs - last.tripMs;
    return { serviceMs: last.serverMs - before.serverMs, leastRealMs, mostRealMs };
  }
  const kept = await findKeptReading(store, accountId);
  if (kept === null) return null;
  const mostRealMs = kept.agoMs - ageMs;
  return { serviceMs: last.serverMs - kept.serviceMs, leastRealMs: mostRealMs - last.tripMs, mostRealMs };
}

/** Compares service and machine clocks with the last reading, also a former process's. Stores a step before it returns. */
export async function watchClocks(deps: ActivityDependencies, clock: ServiceClock, toleranceMs: number): Promise<ServiceTime> {
  const { speed } = clock;
  const { last, ageMs, connectionFailed } = deps.service.clockReadings();
  const [wallMs, monotonicMs] = [deps.nowReal(), deps.monotonicMs()];
  const now = serviceNow(clock);
  const before = snapshots.get(deps.service);
  const machineBy = before === undefined ? 0 : Math.round(wallMs - before.wallMs - (monotonicMs - before.monotonicMs));
  const span = await spanOfService(deps, { last, ageMs, before: before?.reading ?? null });
  const serviceBy = span === null ? 0 : Math.round(excess(span, speed));
  const steps: ClockStep[] = [];
  if (Math.abs(machineBy) > toleranceMs / 2) steps.push({ clock: 'machine', byMs: machineBy });
  if (Math.abs(serviceBy) > Math.max(toleranceMs / 2, leastStepMs * speed)) steps.push({ clock: 'service', byMs: serviceBy });
  if (steps.length > 0) {
    deps.logger.warn({ steps }, 'a clock was set: what was open meanwhile ends in nothing negative');
    // Posts before a clock was set back have later times than now.
    const steppedAt = now + Math.max(0, -serviceBy, Math.ceil(-machineBy * speed));
    await noteSteps(deps.store, deps.accountId, { steps, now, steppedAt });
  }
  const estimate = last === null ? null : Math.round(last.serverMs + ageMs * speed);
  const aheadMs = last === null || estimate === null ? 0 : Math.round((estimate - now) / speed / 1000) * 1000;
  const apartMs = Math.abs(aheadMs) - (last?.tripMs ?? 0) > toleranceMs ? aheadMs : 0;
  let keptAt = before?.keptAt ?? -Infinity;
  const changed = apartMs !== before?.apartMs;
  if (last !== null && (changed || monotonicMs - keptAt >= keepEveryMs)) {
    const reading = { serviceMs: last.serverMs, agoMs: ageMs, apartMs: changed || apartMs !== 0 ? apartMs : null };
    await keepReading(deps.store, deps.accountId, reading);
    keptAt = monotonicMs;
  }
  snapshots.set(deps.service, { wallMs, monotonicMs, reading: last ?? before?.reading ?? null, keptAt, apartMs });
  const clockDoubt = connectionFailed ? 'clock_unread' : apartMs === 0 ? null : 'clocks_apart';
  return { serviceFrom: last?.serverMs ?? null, serviceNow: estimate, clockDoubt };
}

/** Reads one entry of the list, for its Date header alone. */
async function askTheTime(deps: ActivityDependencies, clock: ServiceClock, agentId: string): Promise<void> {
  const request = deps.service.records({ agentId, pageSize: 1 }).catch((error: unknown) => {
    keepQuiet(deps, clock, error);
    deps.logger.warn({ error: codeOf(error) }, "the service's clock could not be read");
  });
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, longestRefreshMs)));
  await Promise.race([request, limit]);
  clearTimeout(timer);
}

/** The service's clock before a POST, refreshed when old or after a failed connection: another process may have another clock. */
export async function readServiceTime(deps: ActivityDependencies, clock: ServiceClock, batchId: string): Promise<ServiceTime> {
  const campaign = await findCampaign(deps.store.db, campaignIdOf(batchId));
  if (campaign === undefined) return { serviceFrom: null, serviceNow: null, clockDoubt: null };
  const { agentId, timing } = campaign.rules;
  const { answeredMsAgo, connectionFailed } = deps.service.clockReadings();
  if ((connectionFailed || answeredMsAgo > refreshAfterMs) && quietTime(deps) <= 0) await askTheTime(deps, clock, agentId);
  return watchClocks(deps, clock, timing.clockToleranceMs);
}
