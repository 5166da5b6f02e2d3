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
const dialWithoutDoubts = edit(dialGuard, 'if (relevant.length === 0) return found;', 'if (relevant.length >= 0) return found;');

/** Keep absence and doubt from dialling. */
export const guardsOfRecords: readonly Guard[] = [
  guard('doubts at settlement', {
    edits: [settleWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'namesakes', 'mixed', 'two_campaigns'],
    test: ['ledger/doubt/guards', 'may be theirs, ends in doubt'],
  }),
  guard('open questions before a dial', {
    edits: [dialWithoutDoubts],
    worlds: ['list_lag', 'two_campaigns', 'mixed', 'foreign', 'withheld'],
    test: ['ledger/doubt/guards', 'whose records came late'],
  }),
  guard('doubts, in both places', {
    edits: [settleWithoutDoubts, dialWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'no_line'],
  }),
  guard('rule 1: earliest possible start', {
    edits: [edit(attemptFacts, 'bounds.from - timing.clockToleranceMs : 0', 'bounds.to + 1_000 : 0')],
    worlds: ['withheld', 'barge_in', 'clock_steps', 'mixed'],
    test: ['ledger/doubt/guards', 'within the tolerance before'],
  }),
  guard('rule 1: latest possible start', {
    edits: [edit(attemptFacts, 'possibleUntil: bounds.to + lookAheadMs', 'possibleUntil: bounds.to')],
    worlds: ['late_rings', 'mixed'],
    test: ['ledger/doubt/guards', 'long after the request'],
  }),
  guard('rule 1: seen before the POST', {
    edits: [edit(doubts, 'if (row.seen_seq < (seqOf.get(attempt.attemptId) ?? 0)) continue;')],
    test: ['ledger/doubt/guards', 'listed before the request'],
  }),
  guard('rule 1: other words do not prove another call', {
    edits: [edit('src/rules/correlation/evidence.ts', "? 'other_words' : null", "? 'somebody_else' : null")],
    worlds: ['barge_in', 'mixed', 'altered', 'foreign'],
    test: ['ledger/doubt/guards', 'words that share little'],
  }),
  guard('rule 1: one or two words prove nothing', {
    edits: [edit(lineWords, 'if (shown.words.length < leastWords) return false;')],
    worlds: ['barge_in', 'altered', 'mixed'],
    test: ['rules/correlation/line-words', 'few words'],
  }),
  guard('rule 1: a field that was cut', {
    edits: [edit(lineWords, 'distanceToBeginning(rest, expected.rest)', 'editDistance(rest, expected.rest)')],
    worlds: ['shortened', 'interrupted', 'mixed'],
    test: ['rules/correlation/line-words', 'somebody else is'],
  }),
  guard('rule 1: words cut from several lines', {
    edits: [edit('src/ledger/doubt/doubts.ts', 'if (own.near.startsWith(shown.near) || shown.near.startsWith(own.near)) return false;')],
    worlds: ['interrupted', 'shortened', 'namesakes', 'mixed'],
    test: ['ledger/doubt/guards', 'two may have spoken'],
  }),
  guard('rule 2: ringing after bare records', {
    edits: [
      edit(
        'src/rules/correlation/record.ts',
        'return shown.bareShown || shown.longestEmptyMs > ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;',
        'return recordedTalk.maybe;',
      ),
    ],
    worlds: ['withheld'],
    test: ['ledger/doubt/guards', 'a record with a duration and no words'],
  }),
  guard('rule 2: ringing without a record of each call', {
    edits: [edit(doubts, 'return counts !== undefined && counts.records >= counts.calls;', 'return true;')],
    worlds: ['withheld'],
    test: ['ledger/doubt/guards', 'and where not every call'],
  }),
  guard('rule 2: silence before any words', {
    edits: [edit('src/rules/correlation/record.ts', 'if (!shown.wordsShown) return recordedTalk.empty;')],
    worlds: ['withheld'],
    test: ['ledger/doubt/guards', 'an empty record may be a talk'],
  }),
  guard('rule 3: the list has caught up', {
    edits: [
      edit(dialGuard, "if (row.disposition !== 'unreached' && row.disposition !== 'unknown' && !isReported) return null;", 'return null;'),
    ],
    worlds: ['list_lag', 'listed_late'],
    test: ['ledger/doubt/guards', 'nobody without a record is called again'],
  }),
  guard('rule 3: the longest lag seen', {
    edits: [edit(dialGuard, 'const lagMs = 2 * (await listed.longestLagMs());', 'const lagMs = 0;')],
    worlds: ['list_lag', 'listed_late', 'mixed'],
    test: ['ledger/doubt/guards', 'whose records came late'],
  }),
  guard('rule 3: one record shown', {
    edits: [edit(conclude, "if (!campaign.recordShown) return unknown('no_record_shown');")],
    worlds: ['list_lag', 'withheld', 'mixed'],
    test: ['ledger/doubt/guards', 'no record of the campaign'],
  }),
  guard('the settle deadline', {
    edits: [edit(openBatches, 'const settled = batch.progress_at + rules.timing.settleMs;', 'const settled = batch.progress_at;')],
    worlds: ['listed_late', 'late_rings'],
    test: ['ledger/collect/settle-and-sweeps', 'nobody is unreached before'],
  }),
  guard('a sweep begun after the deadline', {
    edits: [edit(conclude, 'if (deadline === null || begunAt <= deadline) continue;', 'if (deadline === null) continue;')],
    worlds: ['listed_late', 'late_rings'],
    test: ['ledger/collect/settle-and-sweeps', 'nobody is unreached before'],
  }),
  guard('the wait of an unknown batch', {
    edits: [edit(openBatches, "if (batch.state === 'unknown') return batch.hold_after;", "if (batch.state === 'unknown') return 0;")],
    worlds: ['mixed'],
    test: ['ledger/collect/settle-and-sweeps', 'a batch is held only after'],
  }),
  guard('time without sweeps', {
    edits: [edit(conclude, 'await skipGap(tx, open, { lastCompleteAt: agent?.complete_sweep_at ?? null, begunAt });')],
    worlds: ['restarted', 'mixed'],
    test: ['ledger/collect/settle-and-sweeps', 'time in which nobody looked'],
  }),
  guard('weak matches stay open', {
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
  guard('rule 4: a tie', {
    edits: [
      edit(correlation, "if (left.some(({ e164 }) => e164 !== left[0]?.e164)) return 'tie';"),
      edit(correlation, "return free.length === 1 ? only : 'tie';", 'return only;'),
    ],
    worlds: ['barge_in', 'altered', 'shortened', 'namesakes', 'mixed', 'two_campaigns', 'foreign'],
    test: ['rules/correlation/correlation', ''],
  }),
  guard('possible opt-outs', {
    edits: [edit('src/ledger/doubt/possible-opt-outs.ts', 'if (row.attempt_id === null) await', 'if (row.caller !== null) await')],
    worlds: ['two_campaigns', 'one_line', 'mixed', 'barge_in'],
    test: ['ledger/doubt/guards', 'a possible opt-out'],
  }),
  guard('possible opt-outs, weak matches', {
    edits: [edit(doubts, "eb('evidence', 'not in', strongEvidence)", "eb('evidence', 'is', null)")],
    worlds: ['mixed'],
    test: ['ledger/doubt/guards', 'found for by its words alone'],
  }),
  guard('pending opt-outs', {
    edits: [edit(dialGuard, 'listens ? await findUnanalysedNumbers(tx, relevant) : new Set<string>()', 'new Set<string>()')],
    worlds: ['two_campaigns', 'mixed'],
    test: ['ledger/doubt/guards', 'while the analysis'],
  }),
  guard('pending opt-outs, weak matches', {
    edits: [edit(dialGuard, 'const answersCount = listens && (await', 'const answersCount = false && (await')],
    worlds: ['two_campaigns'],
    test: ['ledger/doubt/guards', 'nor while a talk that is still read'],
  }),
  guard('inbound opt-outs', {
    edits: [edit('activities/walk-list.ts', 'listens: optOut.length > 0', 'listens: false')],
    worlds: ['inbound'],
    test: ['ledger/doubt/guards', 'who calls in'],
  }),
];
