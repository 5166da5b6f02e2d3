import type { Line } from '../line.ts';
import { hourMs, minuteMs } from '../local-time.ts';
import { dialled, type Rule } from './rule.ts';

/** How long an answer of the pre-dial hook is valid. */
const freshMs = 15 * minuteMs;
const dayMs = 24 * hourMs;

/** Planned calls of a batch, this one included, minus its campaign's lines. */
function linesBeyond({ batch }: Line): number {
  return batch === undefined ? 0 : batch.onLine + batch.planned + 1 - batch.limits.maxConcurrentCalls;
}

export const limitRules = {
  unscreened_dialled: {
    promise: 'nobody is called without a fresh yes of the pre-dial hook, where the campaign has one',
    on: dialled(({ campaign, event: { batchId = '', at }, attempt: { attemptId }, data }) => {
      if (campaign.rules.preDial === null) return null;
      const screened = campaign.screened.get(batchId);
      if (screened === undefined || !screened.eligible.has(attemptId) || data['screened'] !== 'eligible')
        return 'was placed without a yes of the pre-dial hook';
      const ageMs = at - screened.at;
      return ageMs > freshMs && `was placed ${ageMs} ms after the pre-dial hook allowed it`;
    }),
  },
  dialled_while_stopped: {
    promise: 'no call begins while the campaign is not running',
    on: {
      'batch.posting': ({ campaign: { state }, batch: { batchId } }) =>
        state !== 'running' && `batch ${batchId} was sent while the campaign was ${state}`,
    },
  },
  caller_out_dialled: {
    promise: 'no call begins from a number that has been taken out',
    on: {
      'batch.posting': ({ campaign, batch: { batchId }, data }) => {
        const caller = String(data['caller']);
        return campaign.callersOut.has(caller) && `batch ${batchId} was sent from ${caller}`;
      },
    },
  },
  caller_limit_exceeded: {
    promise: 'no number calls more often in an hour or a day than campaign and house allow, over all campaigns',
    on: dialled(({ book: { numbers }, campaign, batch, event }) => {
      const limits = [campaign.rules.callers.limits, numbers.house?.callerLimits ?? null].flatMap((one) => one ?? []);
      if (limits.length === 0) return null;
      const caller = batch?.caller ?? '';
      const hour = Math.min(...limits.map(({ perHour }) => perHour ?? Infinity));
      const day = Math.min(...limits.map(({ perDay }) => perDay ?? Infinity));
      const spread = Math.max(...limits.map(({ spreadMs }) => spreadMs ?? 0));
      let [inHour, inDay, tooSoon] = [0, 0, false];
      const calls = numbers.placed('caller', caller);
      for (let index = calls.length - 1; index >= 0; index -= 1) {
        const { rangBy = 0, at = 0 } = calls[index] ?? {};
        if (at < event.at - 2 * dayMs) break;
        if (rangBy > event.at - dayMs) inDay += 1;
        if (rangBy > event.at - hourMs) inHour += 1;
        if (spread > 0 && rangBy > event.at - spread) tooSoon = true;
      }
      const what = `was placed from ${caller}`;
      return [
        tooSoon && `${what} sooner after another than it may be`,
        (inHour >= hour || inDay >= day) && `${what} after ${inHour} in an hour and ${inDay} in a day`,
      ];
    }),
  },
  lines_exceeded: {
    promise: 'no more calls are planned or open than the campaign has lines',
    on: {
      'attempt.planned': (line) =>
        linesBeyond(line) > 0 &&
        `call ${line.event.attemptId} was planned for a line beyond the ${line.batch?.limits.maxConcurrentCalls} that there are`,
    },
    excess: linesBeyond,
  },
  pace_exceeded: {
    promise: 'no more calls begin in a minute than the campaign allows',
    on: dialled(({ campaign, batch, event: { at } }) => {
      const most = batch?.limits.startsPerMinute ?? null;
      const isOver = most !== null && campaign.startsBefore(at).length >= most;
      return isOver && `is one more than the ${most} that may begin in a minute`;
    }),
  },
} satisfies Record<string, Rule>;
