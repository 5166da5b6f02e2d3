import type { JudgedLine } from './campaign-book.ts';
import type { LoggedEvent } from './log.ts';
import { judgeHours, lawAt, placeOf } from './judge-hours.ts';
import { textOf, type Cap, type JudgedRules } from './judged-rules.ts';
import { hourMs } from './local-time.ts';
import type { PlacedCall } from './number-book.ts';

type JudgedCall = Omit<JudgedLine, 'campaign'> & { campaign: Pick<JudgedLine['campaign'], 'rules'> };

/** What is wrong with placing this call, apart from what its own campaign had done before. */
export function judgeCall({ campaign, numbers, event, data, violate }: JudgedCall): void {
  const { rules } = campaign;
  const { attemptId, at, campaignId } = event;
  const number = String(data['e164']);
  const closed = Array.isArray(data['zones']) ? judgeHours(rules, event) : null;
  if (!Array.isArray(data['zones'])) violate('log_incomplete', `the log does not tell where ${attemptId} went`);
  if (closed !== null) violate('outside_hours', `call ${attemptId} was placed ${closed}`);
  if (numbers.isSuppressed(number, campaignId, at))
    violate('suppressed_dialled', `call ${attemptId} went to a number on the do-not-call list`);
  const other = numbers.openCall(number);
  if (other !== undefined && other !== attemptId)
    violate('calls_overlap', `call ${attemptId} began while ${other} to the same number was open`);
  const broken = capsAt(rules, event).find((cap) => {
    const whom = cap.by === 'number' ? number : textOf(data['person']);
    return isBroken(cap, numbers.placedTo(cap.by, whom), at);
  });
  if (broken !== undefined) violate('cap_exceeded', `call ${attemptId} was placed before ${describeCap(broken)} allowed it`);
}

/** The first clock of the earth to show a date is 14 hours ahead, the last one 12 behind. */
const aheadMs = 14 * hourMs;
const behindMs = 12 * hourMs;

/** Every cap that holds for the call: the campaign's, and the law's where and while it may hold. */
function capsAt(rules: JudgedRules, event: LoggedEvent): Cap[] {
  const inForce = lawAt(rules, placeOf(event)).filter(
    ({ from, until }) =>
      (from === null || event.at >= Date.parse(from) - aheadMs) &&
      (until === null || event.at < Date.parse(until) + 24 * hourMs + behindMs),
  );
  return [...rules.caps, ...inForce.flatMap(({ caps }) => caps)];
}

/**
 * A cap counts rings: an earlier call has its place in it from its request until its phone has rung for the last time that is possible,
 * and the new one rings no sooner than its request.
 */
function isBroken(cap: Cap, calls: readonly PlacedCall[], at: number): boolean {
  if ('afterTalkMs' in cap) return calls.some((call) => call.talked && call.at > at - cap.afterTalkMs);
  const recent = calls.filter((call) => call.rangBy > at - cap.withinMs);
  return recent.length >= cap.calls;
}

function describeCap(cap: Cap): string {
  if ('afterTalkMs' in cap) return `${cap.afterTalkMs} ms after a talk with the ${cap.by}`;
  return `${cap.calls} calls per ${cap.withinMs} ms to the ${cap.by}`;
}
