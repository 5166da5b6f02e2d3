import { edit, guard, type Guard } from './guard.ts';

const conclude = 'src/ledger/collect/conclude.ts';
const doubts = 'src/ledger/doubt/doubts.ts';
const attemptFacts = 'src/ledger/doubt/correlation-rows.ts';
const openBatches = 'src/ledger/doubt/open-batches.ts';
const dialGuard = 'src/ledger/doubt/dial-guard.ts';
const correlation = 'src/rules/correlation/correlation.ts';
const lineWords = 'src/rules/correlation/line-words.ts';

const settleWithoutDoubts = edit(
  conclude,
  'const doubts = await readDoubts(tx, agentId, { attempts, timing, now, undecidedUntil: deadline });',
  'const doubts = new Map<string, Doubt>();',
);
const dialWithoutDoubts = edit(dialGuard, 'if (asked.length === 0) return found;', 'if (asked.length >= 0) return found;');

/** What keeps absence and doubt from dialling. */
export const guardsOfRecords: readonly Guard[] = [
  guard('doubts at settlement', 'A call whose record may be an unassigned one ends in doubt, not as unreached.', {
    edits: [settleWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'namesakes', 'mixed', 'two_campaigns'],
    test: ['ledger/doubt/guards', 'may be theirs, ends in doubt'],
  }),
  guard('open questions before a dial', 'Planner and dial transaction check what earlier calls to a recipient leave open.', {
    edits: [dialWithoutDoubts],
    worlds: ['list_lag', 'two_campaigns', 'mixed', 'foreign', 'withheld'],
    test: ['ledger/doubt/guards', 'whose records came late'],
  }),
  guard('doubts, in both places', 'Nobody is called again while an unassigned record may contain a conversation with them.', {
    edits: [settleWithoutDoubts, dialWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'no_line'],
  }),
  guard('rule 1: earliest possible start', 'A record may match from the last known service time before the POST, less a tolerance.', {
    edits: [edit(attemptFacts, 'bounds.from - timing.clockToleranceMs : 0', 'bounds.to + 1_000 : 0')],
    worlds: ['withheld', 'barge_in', 'clock_steps', 'mixed'],
    test: ['ledger/doubt/guards', 'within the tolerance before'],
  }),
  guard('rule 1: latest possible start', 'A call may begin long after its POST.', {
    edits: [edit(attemptFacts, 'possibleUntil: bounds.to + lookAheadMs', 'possibleUntil: bounds.to')],
    worlds: ['late_rings', 'mixed'],
    test: ['ledger/doubt/guards', 'long after the request'],
  }),
  guard(
    'rule 1: seen before the POST',
    'A record listed before a POST does not belong to it. Without this more rows end in doubt; nobody is called.',
    {
      edits: [edit(doubts, 'if (row.seen_seq < (seqOf.get(attempt.attemptId) ?? 0)) continue;')],
      test: ['ledger/doubt/guards', 'listed before the request'],
    },
  ),
  guard(
    'rule 1: other words do not prove another call',
    'A line with few of our words proves another call only if the agent is known to speak our words at that time.',
    {
      edits: [edit('src/rules/correlation/evidence.ts', "? 'other_words' : null", "? 'somebody_else' : null")],
      worlds: ['barge_in', 'mixed', 'altered', 'foreign'],
      test: ['ledger/doubt/guards', 'words that share little'],
    },
  ),
  guard('rule 1: one or two words prove nothing', 'A line of one or two words may be ours, altered and shortened.', {
    edits: [edit(lineWords, 'if (shown.words.length < leastWords) return false;')],
    worlds: ['barge_in', 'altered', 'mixed'],
    test: ['rules/correlation/line-words', 'few words'],
  }),
  guard(
    'rule 1: a field that was cut',
    'A value that was cut off is compared with the beginning of the own one, so that it disowns nobody.',
    {
      edits: [edit(lineWords, 'distanceToBeginning(rest, expected.rest)', 'editDistance(rest, expected.rest)')],
      worlds: ['shortened', 'interrupted', 'mixed'],
      test: ['rules/correlation/line-words', 'somebody else is'],
    },
  ),
  guard('rule 1: words cut from several lines', 'A line that was cut off where those of several calls are equal belongs to none of them.', {
    edits: [edit('src/ledger/doubt/doubts.ts', 'if (own.near.startsWith(shown.near) || shown.near.startsWith(own.near)) return false;')],
    worlds: ['interrupted', 'shortened', 'namesakes', 'mixed'],
    test: ['ledger/doubt/guards', 'two may have spoken'],
  }),
  guard(
    'rule 2: ringing after bare records',
    'If records of unanswered calls have no times, one without words but with a duration may be a conversation.',
    {
      edits: [
        edit(
          'src/rules/correlation/record.ts',
          'return shown.bareShown || shown.longestEmptyMs > ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;',
          'return recordedTalk.maybe;',
        ),
      ],
      worlds: ['withheld'],
      test: ['ledger/doubt/guards', 'a record with a duration and no words'],
    },
  ),
  guard(
    'rule 2: ringing without a record of each call',
    'If unanswered calls leave no record, one without words but with a duration may be a conversation.',
    {
      edits: [edit(doubts, 'return counts !== undefined && counts.records >= counts.calls;', 'return true;')],
      worlds: ['withheld'],
      test: ['ledger/doubt/guards', 'and where not every call'],
    },
  ),
  guard('rule 2: silence before any words', 'An empty transcript proves silence only if conversations are known to show their words.', {
    edits: [edit('src/rules/correlation/record.ts', 'if (!shown.wordsShown) return recordedTalk.empty;')],
    worlds: ['withheld'],
    test: ['ledger/doubt/guards', 'an empty record may be a talk'],
  }),
  guard(
    'rule 3: the list has caught up',
    'Recipients without a record are redialled only after the list has shown a newer one, or after a long wait.',
    {
      edits: [
        edit(
          dialGuard,
          "if (row.disposition !== 'unreached' && row.disposition !== 'unknown' && !isReported) return null;",
          'return null;',
        ),
      ],
      worlds: ['list_lag', 'listed_late'],
      test: ['ledger/doubt/guards', 'nobody without a record is called again'],
    },
  ),
  guard('rule 3: the longest lag seen', 'After late records of an agent, the wait is twice the longest delay seen.', {
    edits: [edit(dialGuard, 'const lagMs = 2 * (await listed.longestLagMs());', 'const lagMs = 0;')],
    worlds: ['list_lag', 'listed_late', 'mixed'],
    test: ['ledger/doubt/guards', 'whose records came late'],
  }),
  guard('rule 3: one record shown', 'A missing record proves nothing if the service has shown no record of the campaign.', {
    edits: [edit(conclude, "if (!campaign.recordShown) return unknown('no_record_shown');")],
    worlds: ['list_lag', 'withheld', 'mixed'],
    test: ['ledger/doubt/guards', 'no record of the campaign'],
  }),
  guard('the settle deadline', 'A record has time to be listed before its absence counts.', {
    edits: [edit(openBatches, 'const settled = batch.progress_at + rules.timing.settleMs;', 'const settled = batch.progress_at;')],
    worlds: ['listed_late', 'late_rings'],
    test: ['ledger/collect/settle-and-sweeps', 'nobody is unreached before'],
  }),
  guard('a sweep begun after the deadline', 'A sweep that began before the deadline cannot have seen everything listed until then.', {
    edits: [edit(conclude, 'if (deadline === null || begunAt <= deadline) continue;', 'if (deadline === null) continue;')],
    worlds: ['listed_late', 'late_rings'],
    test: ['ledger/collect/settle-and-sweeps', 'nobody is unreached before'],
  }),
  guard('the wait of an unknown batch', 'A batch without an answer is held only when no verdict or record can arrive any more.', {
    edits: [edit(openBatches, "if (batch.state === 'unknown') return batch.hold_after;", "if (batch.state === 'unknown') return 0;")],
    worlds: ['mixed'],
    test: ['ledger/collect/settle-and-sweeps', 'a batch is held only after'],
  }),
  guard('time without sweeps', 'It does not count towards the settle deadline.', {
    edits: [edit(conclude, 'await skipGap(tx, open, { lastCompleteAt: agent?.complete_sweep_at ?? null, begunAt });')],
    worlds: ['restarted', 'mixed'],
    test: ['ledger/collect/settle-and-sweeps', 'time in which nobody looked'],
  }),
  guard('weak matches stay open', 'A record matched by number or words may belong to another call to the same callee.', {
    edits: [
      edit(
        dialGuard,
        "'opted_out') return false;\n  return !isToldForSure(row);",
        "'opted_out') return false;\n  return row.evidence === null;",
      ),
    ],
    worlds: ['foreign', 'partly_shown', 'mixed'],
    test: ['ledger/doubt/guards', 'found by its number alone'],
  }),
  guard('rule 4: a tie', 'A record that may belong to several calls is assigned to none.', {
    edits: [
      edit(correlation, "if (left.some(({ e164 }) => e164 !== left[0]?.e164)) return 'tie';"),
      edit(correlation, "return free.length === 1 ? only : 'tie';", 'return only;'),
    ],
    worlds: ['barge_in', 'altered', 'shortened', 'namesakes', 'mixed', 'two_campaigns', 'foreign'],
    test: ['rules/correlation/correlation', ''],
  }),
  guard('possible opt-outs', 'An opt-out in an unassigned record stops calls to everybody who may have made it.', {
    edits: [edit('src/ledger/doubt/possible-opt-outs.ts', 'if (row.attempt_id === null) await', 'if (row.caller !== null) await')],
    worlds: ['two_campaigns', 'one_line', 'mixed', 'barge_in'],
    test: ['ledger/doubt/guards', 'a possible opt-out'],
  }),
  guard('possible opt-outs, weak matches', 'A possible opt-out stops calls even if another record was matched by number or words.', {
    edits: [edit(doubts, "eb('evidence', 'not in', strongEvidence)", "eb('evidence', 'is', null)")],
    worlds: ['mixed'],
    test: ['ledger/doubt/guards', 'found for by its words alone'],
  }),
  guard('pending opt-outs', 'Nobody is called while the analysis of an earlier call may still show an opt-out.', {
    edits: [edit(dialGuard, 'listens ? await findUnheard(tx, asked) : new Set<string>()', 'new Set<string>()')],
    worlds: ['two_campaigns', 'mixed'],
    test: ['ledger/doubt/guards', 'while the analysis'],
  }),
  guard(
    'pending opt-outs, weak matches',
    'This also applies to an analysis that may be theirs, even if another record was matched by number or words.',
    {
      edits: [edit(dialGuard, 'const answersCount = listens && (await', 'const answersCount = false && (await')],
      worlds: ['two_campaigns'],
      test: ['ledger/doubt/guards', 'nor while a talk that is still read'],
    },
  ),
  guard('inbound opt-outs', 'Somebody who calls in and opts out is not called.', {
    edits: [edit('activities/walk-list.ts', 'listens: optOut.length > 0', 'listens: false')],
    worlds: ['inbound'],
    test: ['ledger/doubt/guards', 'who calls in'],
  }),
];
