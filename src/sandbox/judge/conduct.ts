import type { Clock } from '../core/clock/clock.ts';
import type { OperationName } from '../core/operations.ts';
import { isOpen, type Call, type CallChange } from '../core/state/call.ts';
import { ConductChecks, type CheckName, type ConductReport } from './conduct-report.ts';
import { NumberZones } from '../core/world/number-zones.ts';
import { timeOfDay } from '../core/times.ts';

/** Times of day as `HH:MM` on the recipient's clock. */
export interface CallingHours {
  start: string;
  /** `24:00` for midnight. */
  end: string;
}

export interface ConductLimits {
  /** A number accepted again within this many service seconds is redialled too soon. Default 60. */
  redialWithinSeconds: number;
  /** A conversation read again within this many service seconds is polled too fast. Default 1. */
  minReadIntervalSeconds: number;
  /** Most simultaneous requests. Default: from the plan. */
  maxParallelRequests: number;
  /** Most dials of one number within 24 service hours. Default 10. */
  maxDialsPerDay: number;
  /** Allowed calling hours; null (default): not checked. */
  callingHours: CallingHours | null;
}

const dayMs = 24 * 3_600_000;
/** Timers of two processes agree no better than this. */
const timerToleranceRealMs = 3;
/** Reads run in parallel: those arriving this soon after a 429 were already in flight. */
const inFlightRealMs = 25;

/** Grace in service ms for a client to stop after learning that its key is revoked. */
const revokedGraceMs = 10_000;

/** Facts about clients so far. Times: service time. */
function newMemory() {
  return {
    checks: new ConductChecks(),
    callsByNumber: new Map<string, Call[]>(),
    batchRequestIds: new Set<string>(),
    /** By operation and key: until when a client must wait, and when it was first asked to. */
    notBefore: new Map<string, number>(),
    askedAt: new Map<string, number>(),
    lastReadAt: new Map<string, number>(),
    revokedAt: new Map<string, number>(),
  };
}

/** Watches client conduct and records violations. Times: service time. */
export class ConductMonitor {
  readonly #clock: Clock;
  readonly #limits: ConductLimits;
  readonly #numberZones = new NumberZones();
  readonly #zoneOfPerson: (number: string) => string | null;
  #known = newMemory();

  /** `zoneOfPerson`: the recipient's zone, if the world gives one. */
  constructor(clock: Clock, limits: ConductLimits, zoneOfPerson: (number: string) => string | null = () => null) {
    this.#clock = clock;
    this.#limits = limits;
    this.#zoneOfPerson = zoneOfPerson;
  }

  clear(): void {
    this.#known = newMemory();
  }

  /** Later calls are checked against these, they themselves are not. */
  recall(calls: Iterable<Call>): void {
    for (const call of calls) {
      if (call.batchId === null) continue;
      this.#known.callsByNumber.set(call.to, [...(this.#known.callsByNumber.get(call.to) ?? []), call]);
      if (call.requestId !== null) this.#known.batchRequestIds.add(call.requestId);
    }
  }

  report(): ConductReport {
    return this.#known.checks.report(this.#clock.now(), this.#limits.callingHours === null ? ['calling_hours'] : []);
  }

  noteRequest(facts: { sequence: number; parallel: number; keyInUrl: boolean }): void {
    this.#known.checks.countRequest();
    this.#known.checks.observeMost('parallel_requests', facts.parallel);
    const { maxParallelRequests } = this.#limits;
    if (facts.parallel > maxParallelRequests) {
      this.#violate('parallel_requests', `${facts.parallel} requests at once, ${maxParallelRequests} allowed`, { request: facts.sequence });
    }
    this.#known.checks.observe('key_in_url');
    if (facts.keyInUrl) this.#violate('key_in_url', 'an API key stood in the address of a request', { request: facts.sequence });
  }

  /** A 429 asked the holder of `key` to repeat this operation no sooner than `notBefore`. */
  noteWaitAsked(key: string, operation: OperationName, notBefore: number): void {
    const waitKey = `${operation} ${key}`;
    const known = this.#known.notBefore.get(waitKey) ?? 0;
    const now = this.#clock.now();
    this.#known.notBefore.set(waitKey, Math.max(known, notBefore));
    // Only requests in flight at the first 429 are excused, not those at its repeats.
    const isFirst = known <= now + timerToleranceRealMs * this.#clock.speed;
    if (isFirst) this.#known.askedAt.set(waitKey, now);
    this.#known.checks.observe('retry_after');
  }

  noteOperation(key: string, operation: OperationName, sequence: number): void {
    const waitKey = `${operation} ${key}`;
    const notBefore = this.#known.notBefore.get(waitKey);
    if (notBefore === undefined) return;
    const earlyMs = notBefore - this.#clock.now();
    if (earlyMs <= timerToleranceRealMs * this.#clock.speed) {
      if (earlyMs <= 0) this.#known.notBefore.delete(waitKey);
      return;
    }
    const sinceWaitRequestedMs = this.#clock.now() - (this.#known.askedAt.get(waitKey) ?? 0);
    if (operation !== 'batch_calls' && sinceWaitRequestedMs <= inFlightRealMs * this.#clock.speed) return;
    this.#violate('retry_after', `${operation} came ${Math.ceil(earlyMs)} ms (service time) before the wait was over`, {
      request: sequence,
    });
  }

  noteBatch(requestId: string | null, batchId: string): void {
    this.#known.checks.observe('request_id_reuse');
    if (requestId === null) return;
    if (this.#known.batchRequestIds.has(requestId)) {
      this.#violate('request_id_reuse', 'two batches were accepted under one x-request-id', { batchId, requestId });
    }
    this.#known.batchRequestIds.add(requestId);
  }

  noteCall(call: Call): void {
    this.#known.checks.observe('double_dial');
    this.#known.checks.observe('redial_too_soon');
    const earlier = (this.#known.callsByNumber.get(call.to) ?? []).filter((other) => !wasTakenBack(other));
    const previous = earlier.at(-1);
    const facts = { callId: call.callId, requestId: call.requestId, previousCallId: previous?.callId, number: maskNumber(call.to) };
    if (previous !== undefined) {
      const afterMs = call.acceptedAt - previous.acceptedAt;
      if (isOpen(previous, call.acceptedAt)) this.#violate('double_dial', 'a number was dialled while a call to it was still open', facts);
      else if (afterMs < this.#limits.redialWithinSeconds * 1000) {
        this.#violate('redial_too_soon', `a number was dialled again after ${Math.round(afterMs / 1000)} s`, facts);
      }
    }
    const recent = [...earlier.filter((other) => call.acceptedAt - other.acceptedAt < dayMs), call];
    this.#known.callsByNumber.set(call.to, recent);
    this.#known.checks.observeMost('dials_per_number', recent.length);
    if (recent.length > this.#limits.maxDialsPerDay) {
      this.#violate('dials_per_number', `a number was dialled ${recent.length} times within 24 hours`, facts);
    }
  }

  /** Checks the calling hours when a call starts ringing. */
  noteCallChange(call: Call, change: CallChange, at: number): void {
    const { callingHours } = this.#limits;
    if (callingHours === null || change !== 'dialed' || call.batchId === null) return;
    const knownZone = this.#zoneOfPerson(call.to);
    const verdict = checkHours(callingHours, knownZone === null ? this.#numberZones.of(call.to) : [knownZone], at);
    if (verdict === null) this.#known.checks.leaveOpen('calling_hours');
    else this.#known.checks.observe('calling_hours');
    if (verdict?.within === false) {
      const { zone, localTime } = verdict;
      const allowed = `${callingHours.start} to ${callingHours.end}`;
      const facts = { callId: call.callId, requestId: call.requestId, number: maskNumber(call.to), zone };
      this.#violate('calling_hours', `a number was called at ${localTime}; allowed is ${allowed}`, facts);
    }
  }

  /** A used or expired credential came again. `facts` identify the request, never the credential. */
  noteCredentialReuse(kind: 'signed_url' | 'token', facts: Record<string, unknown> = {}): void {
    this.#known.checks.observe('credential_reuse');
    this.#violate('credential_reuse', `a ${kind === 'token' ? 'token' : 'signed URL'} was used again`, facts);
  }

  /** Excuses the first requests: some were in flight, and the client learns of the revocation from one. */
  noteRevokedKey(key: string, sequence: number): void {
    this.#known.checks.observe('revoked_key');
    const now = this.#clock.now();
    const firstUsedAt = this.#known.revokedAt.get(key);
    if (firstUsedAt === undefined) this.#known.revokedAt.set(key, now);
    else if (now - firstUsedAt > revokedGraceMs) this.#violate('revoked_key', 'a revoked key was still used', { request: sequence });
  }

  /** A conversation was requested at `now` and its record delivered whole. */
  noteConversationRead(conversationId: string, now: number): void {
    this.#known.checks.observe('polling');
    const before = this.#known.lastReadAt.get(conversationId);
    this.#known.lastReadAt.set(conversationId, now);
    if (before === undefined) return;
    const leastMs = this.#limits.minReadIntervalSeconds * 1000;
    if (now - before < leastMs)
      this.#violate('polling', `a conversation was read again after ${now - before} ms (service time)`, { conversationId });
  }

  noteDeletedUse(kind: 'agent' | 'conversation' | 'phone number', id: string): void {
    this.#violate('deleted_use', `a deleted ${kind} was asked for`, { id });
  }

  #violate(check: CheckName, what: string, facts: Record<string, unknown>): void {
    this.#known.checks.violate(check, { at: this.#clock.now(), what, ...facts });
  }
}

/** Ended without being dialled: no call was placed. */
function wasTakenBack({ course, dialedAt }: Call): boolean {
  return course !== null && dialedAt === null;
}

/** Recognisable, but not dialable. */
function maskNumber(number: string): string {
  return `${number.slice(0, 3)}…${number.slice(-2)}`;
}

type HoursVerdict = { within: true } | { within: false; zone: string; localTime: string } | null;

/** Checks the hours in all zones; null when unknown. */
function checkHours(hours: CallingHours, zones: readonly string[], at: number): HoursVerdict {
  if (zones.length === 0) return null;
  for (const zone of zones) {
    const localTime = timeOfDay(zone, at);
    if (localTime === null) return null;
    if (localTime < hours.start || localTime >= hours.end) return { within: false, zone, localTime };
  }
  return { within: true };
}
