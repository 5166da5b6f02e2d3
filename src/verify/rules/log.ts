import type { Batch } from '../book.ts';
import type { AttemptLine, Line } from '../line.ts';
import { textOf } from '../judged-rules.ts';
import type { Finding, Rule } from './rule.ts';

/** Allowed state changes of a batch, written independently of the dialler's. */
const batchMoves: Readonly<Record<string, readonly string[]>> = {
  intent: ['posting', 'released'],
  posting: ['confirmed', 'refused', 'not_sent', 'unknown'],
  not_sent: ['posting', 'released', 'unknown'],
  unknown: ['confirmed', 'not_sent', 'refused', 'held'],
  held: ['confirmed', 'redial', 'given_up'],
  refused: ['unknown'],
  redial: ['confirmed'],
  given_up: ['confirmed'],
};

/** Allowed state changes of a campaign, also independent. */
const campaignMoves: Readonly<Record<string, readonly string[]>> = {
  draft: ['scheduled', 'running'],
  scheduled: ['running', 'paused', 'draining', 'failed'],
  running: ['paused', 'draining', 'completed', 'failed'],
  paused: ['scheduled', 'running', 'draining', 'completed', 'failed'],
  draining: ['completed', 'cancelled', 'failed'],
  completed: ['scheduled', 'running'],
  cancelled: ['scheduled', 'running'],
  failed: ['scheduled', 'running'],
};

/** States in which the outcome of a batch is not known yet. */
const undecided: readonly string[] = ['intent', 'posting', 'not_sent', 'unknown'];

export const orderRules = {
  illegal_change: {
    promise: 'batches, calls and campaigns change their state only as they may',
    on: {
      'batch.posting': ({ batch }) => againstMove(batch, 'posting'),
      'batch.state': ({ batch, data }) => againstMove(batch, String(data['state'])),
      'post.verdict': ({ batch: { batchId, verdicts }, k, data }) =>
        verdicts[k - 1] != null && `request ${k} of batch ${batchId} has a second verdict, ${String(data['verdict'])}`,
      'campaign.state': ({ campaign: { state }, data }) => {
        const to = String(data['to']);
        const isLegal = (textOf(data['from']) ?? state) !== state || campaignMoves[state]?.includes(to) === true;
        return !isLegal && `the campaign went from ${state} to ${to}`;
      },
      'attempt.settled': (line) => againstEnd(line, line.attempt.state !== 'settled' && !line.wasMade),
      'attempt.corrected': (line) => againstEnd(line, line.attempt.state === 'settled' || line.wasMade),
      'attempt.released': ({ attempt: { attemptId, state } }) =>
        state !== null && `call ${attemptId} was given back, and was ${state} before`,
      'pilot.drawn': ({ campaign: { pilot }, data }) => {
        const sample = Number(data['sample']);
        return sample !== (pilot?.sample ?? 0) + 1 && `sample ${sample} was drawn after ${pilot?.sample ?? 'none'}`;
      },
      'pilot.decided': ({ campaign: { pilot }, data }) =>
        data['decision'] === 'go_on' && pilot?.state !== 'over' && `the pilot was decided about while it was ${pilot?.state}`,
    },
    alone: {
      'pilot.ended': ({ campaign: { pilot }, data }) =>
        pilot?.state !== 'calling' && `the end of sample ${String(data['sample'])} is told, and nobody calls it`,
      'pilot.voided': ({ campaign: { pilot } }) =>
        (pilot === null || pilot.state === 'over') && 'a pilot was voided that was not called, and had not passed',
      'callback.promised': (line) => line.times !== null && madeTwice(line),
      'callback.unclear': madeTwice,
      'callback.moved': (line) => line.times !== null && notOpen(line, 'was moved'),
      'callback.ended': (line) => notOpen(line, 'ended'),
    },
  },
  cause_missing: {
    promise: 'every request has its verdict, and every change the line that it follows from',
    on: {
      'batch.posting': ({ batch }) => debtOf(batch),
      'batch.state': ({ campaign, batch, data: { state, by } }) => {
        const to = String(state);
        const isLookedUp = by === 'look_up';
        const needsVerdict = to === 'refused' || (!isLookedUp && (to === 'not_sent' || (to === 'confirmed' && by !== 'evidence')));
        return [
          isLookedUp && !campaign.looksUp && `batch ${batch.batchId} is ${to} by a look-up, which its service has none of`,
          needsVerdict && !batch.verdicts.includes(to) && `batch ${batch.batchId} is ${to}, and no request of it has that verdict`,
          batch.owes !== to && debtOf(batch),
        ];
      },
      'attempt.matched': ({ campaign, attempt: { attemptId }, data }) =>
        data['evidence'] === 'person' &&
        !campaign.given.has(`${attemptId} ${textOf(data['conversation'])}`) &&
        `call ${attemptId} was given its record by a person, and nobody has said so`,
      // The end of a single refused call follows the state of its batch.
      'attempt.settled': (line) => [debtOf(line.batch), ...againstReport(line)],
      'attempt.corrected': (line) => [debtOf(line.batch), ...againstReport(line)],
      'attempt.released': (line) => {
        const { campaign, attempt, batch, recipientId, data } = line;
        // An unsent call is given back by the operator's command alone.
        const isOwn = data['by'] !== 'report' && campaign.withdrawn.has(recipientId);
        const isRequested = data['reason'] !== 'withdrawn' || isOwn || batch?.askedBack === true;
        return [
          !isRequested && `call ${attempt.attemptId} was given back as withdrawn, and the service was never asked for it`,
          ...againstReport(line),
        ];
      },
      'attempt.result': ({ attempt: { attemptId, disposition }, delayAsked, data }) => {
        const [result, asks] = [textOf(data['result']), textOf(data['asks'])];
        const isJustified = asks === null || delayAsked !== null;
        return [
          disposition !== 'answered' && `call ${attemptId} came to ${result}, and nobody had answered it`,
          !isJustified && `call ${attemptId} asks for another (${asks}), and no rule or record says so`,
        ];
      },
      'campaign.state': ({ campaign: { state, owesRoundEnd }, data }) => {
        const from = textOf(data['from']) ?? state;
        return [
          from !== state && `the campaign left ${from}, and the log has it as ${state}`,
          owesRoundEnd && `the campaign is ${String(data['to'])} again, and the end of its round is not told`,
        ];
      },
      'round.ended': ({ campaign: { state, owesRoundEnd, rounds } }) =>
        !owesRoundEnd && rounds > 0 && `the round ended while the campaign was ${state}`,
      'callback.promised': ({ calls, promiseId, data }) =>
        data['by'] !== 'person' && calls.at(-1)?.asks !== 'callback' && `promise ${promiseId} was made, and no call asks for it`,
      'pilot.ended': ({ campaign: { rules, rows, rejected, outcomes }, event, data }) => {
        const readings = Array.isArray(data['readings']) ? (data['readings'] as { verdict?: unknown }[]) : [];
        const mayPass = rules.pilot?.next === 'go_on' && readings.every(({ verdict }) => verdict === 'holds');
        const isAnyoneElse = rows > rejected + outcomes.size;
        const isWrong = data['passed'] === true && !mayPass && isAnyoneElse;
        return isWrong && `the pilot passed by itself at ${new Date(event.at).toISOString()}, and its gates did not hold`;
      },
      'goal.reached': ({ campaign: { goals } }) =>
        (goals.round === null || goals.logged) && `the goal is told as reached, with ${goals.count} talks that came to it`,
    },
    alone: {
      'pilot.decided': ({ campaign: { pilot }, data }) =>
        (pilot === null || data['by'] !== 'person') && 'a pilot was decided about, and there is none, or nobody did',
    },
    atEnd: (campaign) => {
      const { state, batches, owesRoundEnd } = campaign;
      return [
        ...[...batches.values()].flatMap((batch) => [
          debtOf(batch),
          batch.lacksMatch && `batch ${batch.batchId} was confirmed by a record, and no call of it has one`,
        ]),
        owesRoundEnd && `the campaign is ${state}, and the end of its round is not told`,
        ...[...(campaign.hasEnded ? batches : [])].map(
          ([batchId, batch]) => undecided.includes(batch.state) && `the campaign is ${state}, and batch ${batchId} is ${batch.state}`,
        ),
      ];
    },
  },
  time_reversed: {
    promise: 'the times of a campaign never fall',
    onEach: ({ campaign, event, fall }) => {
      const isReversed = fall > campaign.rules.timing.clockToleranceMs;
      const [from, to] = [campaign.lastAt, event.at];
      return isReversed && `${event.type} is told of ${new Date(to).toISOString()}, after ${new Date(from).toISOString()}`;
    },
    excess: ({ fall }) => fall,
  },
  log_incomplete: {
    promise: 'every step stands in the log after the one that it follows from',
    on: {
      'batch.planned': ({ campaign, place, event: { batchId = '' } }) => {
        const before = campaign.batchesOf.get(place?.round ?? '') ?? 0;
        // Batches of a round have no gap; a missing one was removed from the log.
        return place !== null && place.number !== before + 1 && `batch ${batchId} was planned, and the last one of its round was ${before}`;
      },
      'batch.posting': ({ batch, k }) => [
        k !== batch.k + 1 && `request ${k} of batch ${batch.batchId} began, and the one before it was ${batch.k}`,
        batch.planned !== batch.size && `batch ${batch.batchId} was to have ${batch.size} calls, and the log has ${batch.planned}`,
      ],
      'post.verdict': ({ batch, k }) => {
        const [what, calls] = [`request ${k} of batch ${batch.batchId}`, batch.calls.length];
        if (k > batch.k) return `${what} has a verdict and was never begun`;
        return k === batch.k && calls !== batch.posted && `${what} was to have ${batch.posted} calls, and the log has ${calls}`;
      },
      'attempt.planned': ({ recipientId, row, calls, event: { attemptId = '' } }) => [
        row === null && `call ${attemptId} was planned for ${recipientId}, which is no row of the list`,
        attemptId !== `${recipientId}/${calls.length + 1}` && `call ${attemptId} was planned, and the log has ${calls.length} before it`,
      ],
      'attempt.posted': ({ book, campaign, event: { attemptId }, recipientId, row, data }) => [
        book.rowKey !== null &&
          row !== null &&
          campaign.rowBook.of(row) === undefined &&
          `the log has no hash of ${recipientId}, to which ${attemptId} went`,
        !Array.isArray(data['zones']) && `the log does not tell where ${attemptId} went`,
      ],
      'attempt.result': ({ attempt: { attemptId, result }, data }) =>
        result !== null && `call ${attemptId} came to ${result}, and then to ${textOf(data['result'])}`,
      'recipient.corrected': ({ campaign, recipientId, outcome: known = null, data }) => {
        const corrected = textOf(data['outcome']);
        const isRejected = corrected === 'rejected';
        return [
          (isRejected ? known !== null : corrected !== known) &&
            `${recipientId} was corrected as ${corrected}, and the log has it as ${known}`,
          isRejected && campaign.rejected < 1 && `${recipientId} was corrected as rejected, and all rejected rows were corrected before`,
        ];
      },
      // Only a planned or open call can be withdrawn, or one whose talk may ask for another.
      'recipient.withdrawn': ({ campaign, recipientId, calls, data }) => {
        const last = calls.at(-1);
        const isAwaited =
          last?.disposition === 'answered' && last.result === null && campaign.rules.results.some(({ next }) => next !== undefined);
        const lacksCall = data['callOpen'] === true && last?.state !== null && !isAwaited;
        return lacksCall && `${recipientId} was withdrawn with its open call, and the log has no such call`;
      },
      'campaign.edited': ({ campaign: { edits }, data }) =>
        (['added', 'corrected', 'withdrawn'] as const).map((kind) => {
          const count = Number(data[kind]);
          return count !== edits[kind] && `${count} rows were to have been ${kind}, and the log has ${edits[kind]}`;
        }),
    },
    alone: {
      'batch.posting': batchless,
      'batch.state': batchless,
      'batch.withdrawing': batchless,
      'post.verdict': batchless,
      'attempt.posted': ({ attempt, event }) => attempt === undefined && `call ${event.attemptId} was placed and never planned`,
      'attempt.matched': ({ attempt, event }) => attempt?.postedAt == null && `call ${event.attemptId} has a record and was never placed`,
      'attempt.settled': unplaced,
      'attempt.corrected': unplaced,
      'attempt.result': ({ attempt, event }) => attempt === undefined && `call ${event.attemptId} came to something and was never planned`,
      'attempt.released': ({ attempt, event }) => attempt === undefined && `call ${event.attemptId ?? ''} was given back and never planned`,
      'callback.promised': timeless,
      'callback.moved': timeless,
    },
    onOutcome: ({ recipientId, data }, { before }) =>
      typeof data['outcome'] !== 'string' && before === null && `${recipientId} lost an outcome, and the log has none of it`,
    atEnd: (campaign) => {
      const { goals, edits, open } = campaign;
      return [
        goals.round !== null && !goals.logged && `the goal was reached with ${goals.count} talks, and nothing says so`,
        ...[...(campaign.hasEnded ? open : [])].map(({ attemptId }) => `call ${attemptId} has no end in the log`),
        campaign.hasEnded && edits.added + edits.corrected + edits.withdrawn > 0 && 'rows were changed, and their number was never told',
      ];
    },
  },
} satisfies Record<string, Rule>;

function againstMove({ batchId, state }: Batch, to: string): Finding {
  return batchMoves[state]?.includes(to) !== true && `batch ${batchId} went from ${state} to ${to}`;
}

function againstEnd({ attempt: { attemptId, state }, event }: AttemptLine, isLegal: boolean): Finding {
  return !isLegal && `call ${attemptId} is told of by ${event.type}, and was ${state ?? 'open'} before`;
}

function madeTwice({ promise, promiseId }: Line): Finding {
  return promise !== undefined && `promise ${promiseId} was made twice`;
}

function notOpen({ promise, promiseId }: Line, what: string): Finding {
  return promise?.ended !== null && `promise ${promiseId} ${what}, and is not open`;
}

/** A verdict changes the batch at once: any other line about it shows that the change was removed. */
function debtOf(batch: Batch | undefined): string | false {
  return batch !== undefined && batch.owes !== null && `batch ${batch.batchId} has the verdict ${batch.owes}, and never became so`;
}

/** A report is the only evidence of its call, and only some services give reports. */
function againstReport({ campaign, attempt: { attemptId, conversation }, data }: AttemptLine): (string | false)[] {
  if (data['by'] !== 'report') return [];
  return [
    !campaign.looksUp && `call ${attemptId} ended by a report, which its service gives none of`,
    conversation !== null && `call ${attemptId} ended by a report although it has a record`,
  ];
}

function batchless({ batch, event }: Line): Finding {
  return batch === undefined && `${event.type} of a batch that was never planned`;
}

function unplaced({ attempt, event }: Line): Finding {
  return attempt?.postedAt == null && `call ${event.attemptId ?? ''} ended and was never placed`;
}

function timeless({ times, promiseId }: Line): Finding {
  return times === null && `promise ${promiseId} tells no time`;
}
