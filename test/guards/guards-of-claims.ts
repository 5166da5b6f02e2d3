import { besideSubmit, struck } from '../chaos/aim.ts';
import { edit, guard, type Guard } from './guard.ts';

const bounds = 'src/ledger/doubt/correlation-rows.ts';
const clocks = 'activities/watch-clocks.ts';
const conclude = 'src/ledger/collect/conclude.ts';
const dialGuard = 'src/ledger/doubt/dial-guard.ts';
const doubts = 'src/ledger/doubt/doubts.ts';

/** What keeps clocks, refusals and records that are still to be read from dialling. */
export const guardsOfClaims: readonly Guard[] = [
  guard("rule 7: the service's clock", "Records are compared with service time, not with the worker's clock.", {
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
  guard('rule 7: steps of a clock', 'Calls that were open while a clock was set end with no negative result.', {
    edits: [edit(clocks, 'if (steps.length > 0) {', 'if (steps.length > 99) {')],
    worlds: ['clock_steps', 'restarted', 'skewed', 'mixed'],
    test: ['activities/clocks', 'finds a clock that was set meanwhile'],
  }),
  guard(
    'rule 7: the clock after a failed connection',
    'The service may be a new process with another clock, so its clock is read before the next POST.',
    {
      edits: [
        edit(clocks, '(connectionFailed || answeredMsAgo > refreshAfterMs)', '(answeredMsAgo > refreshAfterMs)'),
        edit(clocks, "connectionFailed ? 'clock_unread' : apartMs", 'apartMs'),
      ],
      worlds: ['restarted'],
      test: ['activities/clocks', 'restarted with its clock 28 minutes back'],
    },
  ),
  guard('rule 7: hours by both clocks', 'Hours that are open by only one of the clocks count as closed.', {
    edits: [
      edit('src/ledger/dial/sort-attempts.ts', 'judgeByBothClocks(input.serviceNow ?? now, question)', 'judgeByBothClocks(now, question)'),
    ],
    test: ['activities/clocks', 'hours that are open by one clock alone'],
  }),
  guard(
    'rule 8: reading the list before a second POST',
    'The list is read before a batch that the service claims to have refused (429) is sent again.',
    {
      edits: [edit('activities/submit.ts', 'await lookBeforeRepost(submitting, beat)', 'undefined')],
      aim: besideSubmit('submit', 'limited, and yet called'),
      worlds: ['refused', 'mixed'],
      test: ['world/seen', 'sent again after a second'],
    },
  ),
  guard('rule 8: the wait after 400 and 422', 'A refused batch is sent in halves only after the list has had time to show its calls.', {
    edits: [
      edit('src/ledger/dial/verdicts.ts', 'import { isAboutCalls, pause', 'import { applyRefusal, isAboutCalls, pause'),
      edit(
        'src/ledger/dial/verdicts.ts',
        "// The service's word is a claim: before anybody is called again, its list is to show nothing else (see `concludeSweep`).",
        'await applyRefusal(tx, batch, input.now);',
      ),
    ],
    aim: struck('refused, and yet called', 'submit'),
    worlds: ['refused'],
    test: ['world/seen', 'nobody of a batch that was queued'],
  }),
  guard(
    'rule 8: doubts about a refused batch, in both places',
    'A record that may belong to a refused batch makes it unknown, and keeps its recipients out of other batches.',
    {
      edits: [
        edit(conclude, 'if (isDoubtful) await countAsUnknown(', 'if (isDoubtful && now < 0) await countAsUnknown('),
        edit(dialGuard, 'if (asked.length === 0) return found;', 'if (asked.length >= 0) return found;'),
      ],
      worlds: ['refused'],
      test: ['world/seen', 'whose talks are recorded without words'],
    },
  ),
  guard('rule 8: doubts about a denied batch', 'A batch is not sent again after a 429 if a record may belong to one of its calls.', {
    edits: [edit('src/ledger/dial/denied-calls.ts', 'if (first === undefined || (await', 'if (batch.posts > 0 || (await')],
    worlds: ['refused', 'mixed'],
    test: ['world/seen', 'sent again after a second'],
  }),
  guard('rule 8: the minute after a 429', 'After a 429, records have a minute to be listed before the batch is sent again.', {
    edits: [edit('src/ledger/dial/denied-calls.ts', 'return isEarly || doubts.some(', 'return doubts.some(')],
    worlds: ['refused'],
    test: ['ledger/rows/dialling', 'refused for its rate is not sent again before'],
  }),
  guard('rule 8: released calls', 'Recipients of a denied batch are not called in another one while a record may be theirs.', {
    edits: [edit(dialGuard, ' || (row.denied !== null && !isGivenBack(row))', '')],
    aim: besideSubmit('submit', 'limited, and yet called'),
    worlds: ['refused', 'mixed'],
    test: ['ledger/doubt/guards', 'who was in a batch that was given back'],
  }),
  guard('rule 8: a record of a released call', 'It settles that call, and its recipient is not called again for it.', {
    edits: [edit('src/ledger/collect/matching.ts', "if (attempt.state === 'released') await takeAsPlaced(tx, attempt, now);")],
    aim: besideSubmit('submit', 'limited, and yet called'),
    worlds: ['refused'],
    test: ['ledger/dial/denied-calls', 'a record that comes after the batch was given back'],
  }),
  guard('rule 9: undecided records', 'Nothing is concluded while a possible record is not final.', {
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
  guard(
    'report: what it alone says',
    'While a report does not tell of each call of its batch, a record of nobody may be of any of those whose records name nobody.',
    {
      edits: [edit(dialGuard, "evidence === 'report' ? untold === 0 :", "evidence === 'report' ||")],
      api: 'batch-calling',
      worlds: ['untrue'],
      test: ['activities/reported-doubt', 'leaves somebody out'],
    },
  ),
  guard(
    'report: against the words of a record',
    'What a report alone says of a record is no clue where the record’s words name somebody else.',
    {
      edits: [
        edit(
          'src/rules/correlation/evidence.ts',
          "const isDenied = record.reported === 'alone' &&",
          'const isDenied = named.length < 0 &&',
        ),
      ],
      api: 'batch-calling',
      worlds: ['untrue'],
      test: ['activities/reported-doubt', 'takes two people for each other'],
    },
  ),
  guard(
    'look-up: the list of conversations has been read',
    'That no record fits a request which is not listed counts only once the list was read back to it.',
    {
      edits: [edit('src/ledger/collect/look-ups.ts', 'if (!isSwept) return wantSweep(tx, batch.campaign_id, backTo);')],
      api: 'batch-calling',
      worlds: ['unlisted'],
      test: ['activities/reported-guards', 'while the list of conversations cannot be read'],
    },
  ),
  guard('look-up: after a 429, as long as lists lag', 'A list that does not show a denied request is not relied on before it would.', {
    edits: [edit('activities/look-up.ts', '(found.certain || begunAt >= since + patienceMs)', 'since > 0')],
    api: 'batch-calling',
    worlds: ['lagging', 'refused'],
    test: ['activities/reported-guards', 'what a 429 refused is not sent again'],
  }),
];
