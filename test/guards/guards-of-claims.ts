import { besideSubmit, struck } from '../chaos/aim.ts';
import { edit, guard, type Guard } from './guard.ts';

const bounds = 'src/ledger/doubt/correlation-rows.ts';
const clocks = 'activities/watch-clocks.ts';
const conclude = 'src/ledger/collect/conclude.ts';
const dialGuard = 'src/ledger/doubt/dial-guard.ts';
const doubts = 'src/ledger/doubt/doubts.ts';

/** Keep clocks, refusals and unread records from dialling. */
export const guardsOfClaims: readonly Guard[] = [
  guard("rule 7: the service's clock", {
    edits: [
      edit(bounds, 'const from = row.service_from ?? row.posted_at - clockToleranceMs;', 'const from = row.posted_at;'),
      edit(
        bounds,
        'const to = row.service_to ?? Math.max(row.verdict_at ?? 0, row.hold_after ?? row.posted_at) + clockToleranceMs;',
        'const to = row.posted_at;',
      ),
    ],
    worlds: ['skewed', 'restarted', 'clock_steps'],
    test: ['ledger/doubt/guards', 'own time of the request'],
  }),
  guard('rule 7: steps of a clock', {
    edits: [edit(clocks, 'if (steps.length > 0) {', 'if (steps.length > 99) {')],
    worlds: ['clock_steps', 'restarted', 'skewed', 'mixed'],
    test: ['activities/clocks', 'finds a clock that was set meanwhile'],
  }),
  guard('rule 7: the clock after a failed connection', {
    edits: [
      edit(clocks, '(connectionFailed || answeredMsAgo > refreshAfterMs)', '(answeredMsAgo > refreshAfterMs)'),
      edit(clocks, "connectionFailed ? 'clock_unread' : apartMs", 'apartMs'),
    ],
    worlds: ['restarted'],
    test: ['activities/clocks', 'restarted with its clock 28 minutes back'],
  }),
  guard('rule 7: hours by both clocks', {
    edits: [
      edit(
        'src/ledger/dial/sort-attempts.ts',
        'evaluateByBothClocks(input.serviceNow ?? now, question)',
        'evaluateByBothClocks(now, question)',
      ),
    ],
    test: ['activities/clocks', 'hours that are open by one clock alone'],
  }),
  guard('rule 8: reading the list before a second POST', {
    edits: [edit('activities/submit.ts', 'await checkBeforeRepost(submitting, beat)', 'undefined')],
    aim: besideSubmit('submit', 'limited, and yet called'),
    worlds: ['refused', 'mixed'],
    test: ['world/seen', 'sent again after a second'],
  }),
  guard('rule 8: the wait after 400 and 422', {
    edits: [
      edit('src/ledger/dial/verdicts.ts', 'import { isAboutCalls, pause', 'import { applyRefusal, isAboutCalls, pause'),
      edit(
        'src/ledger/dial/verdicts.ts',
        '// A claim: before any redial the list must show nothing else (see `concludeSweep`).',
        'await applyRefusal(tx, batch, input.now);',
      ),
    ],
    aim: struck('refused, and yet called', 'submit'),
    endless: true,
    worlds: ['refused'],
    test: ['world/seen', 'a batch that was queued although the answer was'],
  }),
  guard('rule 8: doubts about a refused batch, in both places', {
    edits: [
      edit(conclude, 'if (isDoubtful) await countAsUnknown(', 'if (isDoubtful && now < 0) await countAsUnknown('),
      edit(dialGuard, 'if (relevant.length === 0) return found;', 'if (relevant.length >= 0) return found;'),
    ],
    worlds: ['refused'],
    test: ['world/seen', 'whose talks are recorded without words'],
  }),
  guard('rule 8: doubts about a denied batch', {
    edits: [edit('src/ledger/dial/denied-calls.ts', 'if (first === undefined || (await', 'if (batch.posts > 0 || (await')],
    worlds: ['refused', 'mixed'],
    test: ['world/seen', 'sent again after a second'],
  }),
  guard('rule 8: the minute after a 429', {
    edits: [edit('src/ledger/dial/denied-calls.ts', 'return isEarly || doubts.some(', 'return doubts.some(')],
    worlds: ['refused'],
    test: ['ledger/rows/dialling', 'refused for its rate is not sent again before'],
  }),
  guard('rule 8: released calls', {
    edits: [edit(dialGuard, ' || (row.denied !== null && !isGivenBack(row))', '')],
    aim: besideSubmit('submit', 'limited, and yet called'),
    worlds: ['refused', 'mixed'],
    test: ['ledger/doubt/guards', 'who was in a batch that was given back'],
  }),
  guard('rule 8: a record of a released call', {
    edits: [edit('src/ledger/collect/matching.ts', "if (attempt.state === 'released') await takeAsPlaced(tx, attempt, now);")],
    aim: besideSubmit('submit', 'limited, and yet called'),
    worlds: ['refused'],
    test: ['ledger/dial/denied-calls', 'a record that comes after the batch was given back'],
  }),
  guard('rule 9: undecided records', {
    edits: [
      edit(
        doubts,
        'else if (undecidedUntil === undefined || (clue.startedAt ?? 0) <= undecidedUntil) doubt.undecided = true;',
        'else if (now < 0) doubt.undecided = true;',
      ),
    ],
    worlds: ['partly_shown', 'no_line', 'withheld', 'mixed', 'late_rings'],
    test: ['ledger/collect/settle-and-sweeps', 'a record of nobody that has not been read'],
  }),
  guard('report: what it alone says', {
    edits: [edit(dialGuard, "evidence === 'report' ? untold === 0 :", "evidence === 'report' ||")],
    api: 'batch-calling',
    worlds: ['untrue'],
    test: ['activities/reported-doubt', 'leaves somebody out'],
  }),
  guard('report: against the words of a record', {
    edits: [
      edit('src/rules/correlation/evidence.ts', "const isDenied = record.reported === 'alone' &&", 'const isDenied = named.length < 0 &&'),
    ],
    api: 'batch-calling',
    worlds: ['untrue'],
    test: ['activities/reported-doubt', 'takes two people for each other'],
  }),
  guard('look-up: the list of conversations has been read', {
    edits: [edit('src/ledger/collect/look-ups.ts', 'if (!isSwept) return wantSweep(tx, batch.campaign_id, backTo);')],
    api: 'batch-calling',
    worlds: ['unlisted'],
    test: ['activities/reported-guards', 'while the list of conversations cannot be read'],
  }),
  guard('look-up: after a 429, as long as lists lag', {
    edits: [edit('activities/look-up.ts', '(found.certain || begunAt >= since + patienceMs)', 'since > 0')],
    api: 'batch-calling',
    worlds: ['lagging', 'refused'],
    test: ['activities/reported-guards', 'what a 429 refused is not sent again'],
  }),
];
