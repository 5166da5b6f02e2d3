import { edit, type Guard } from './guard.ts';

const conclude = 'src/ledger/collect/conclude.ts';
const doubts = 'src/ledger/doubt/doubts.ts';
const attemptFacts = 'src/ledger/doubt/correlation-rows.ts';
const openBatches = 'src/ledger/doubt/open-batches.ts';
const dialGuard = 'src/ledger/doubt/dial-guard.ts';
const correlation = 'src/domain/correlation/correlation.ts';

const settleWithoutDoubts = edit(
  conclude,
  'const doubts = await readDoubts(tx, agentId, entry.missing, entry.rules.timing, now, deadline);',
  'const doubts = new Map<string, Doubt>();',
);
const dialWithoutDoubts = edit(
  dialGuard,
  'if (asked.length === 0) return found;',
  'if (asked.length >= 0) return found;',
);

/** What keeps absence and doubt from dialling. */
export const guardsOfRecords: readonly Guard[] = [
  {
    name: 'doubts at settlement',
    keeps: 'A call whose record may be one that belongs to nobody ends in doubt, not unreached.',
    edits: [settleWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'namesakes', 'mixed', 'two_campaigns'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'may be theirs, ends in doubt' },
  },
  {
    name: 'hindrances before a dial',
    keeps: 'Planner and dial transaction ask what earlier calls to somebody leave open.',
    edits: [dialWithoutDoubts],
    worlds: ['list_lag', 'two_campaigns', 'mixed', 'foreign', 'withheld'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'whose records came late' },
  },
  {
    name: 'doubts, in both places',
    keeps: 'Nobody is called again while a record that may hide a talk with them belongs to nobody.',
    edits: [settleWithoutDoubts, dialWithoutDoubts],
    worlds: ['barge_in', 'withheld', 'no_line'],
  },
  {
    name: 'rule 1: earliest possible start',
    keeps: 'A record is possible from a tolerance before the last time of the service before the POST.',
    edits: [edit(attemptFacts, 'bounds.from - timing.clockToleranceMs : 0', 'bounds.to + 1_000 : 0')],
    worlds: ['withheld', 'barge_in', 'clock_steps', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'within the tolerance before' },
  },
  {
    name: 'rule 1: latest possible start',
    keeps: 'A call may begin long after its POST.',
    edits: [edit(attemptFacts, 'possibleUntil: bounds.to + lookAheadMs', 'possibleUntil: bounds.to')],
    worlds: ['late_rings', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'long after the request' },
  },
  {
    name: 'rule 1: seen before the POST',
    keeps: 'What was listed before a POST is no record of it; without this more rows end in doubt, nobody is called.',
    edits: [edit(doubts, 'if (row.seen_seq < (seqOf.get(attempt.attemptId) ?? 0)) continue;')],
    worlds: [],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'listed before the request' },
  },
  {
    name: 'rule 1: other words are not somebody else',
    keeps:
      'A line with few words of ours is no proof of another call unless the agent is known to speak ours around it.',
    edits: [edit('src/domain/correlation/evidence.ts', "? 'few_shared' : null", "? 'somebody_else' : null")],
    worlds: ['barge_in', 'mixed', 'altered', 'foreign'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'words that share little' },
  },
  {
    name: 'rule 1: a word or two are no other words',
    keeps: 'A line of one or two words may be ours, altered and cut short.',
    edits: [edit('src/domain/correlation/line-words.ts', 'if (shown.words.length < leastWords) return false;')],
    worlds: ['barge_in', 'altered', 'mixed'],
    test: { file: 'test/domain/correlation/line-words.test.ts', name: 'few words' },
  },
  {
    name: 'rule 2: ringing after bare records',
    keeps: 'Where records of unanswered calls name no time, one without words but with a duration may be a talk.',
    edits: [
      edit(
        'src/domain/correlation/recorded-talk.ts',
        'return shown.bareShown || shown.longestEmptyMs > ringLimitMs ? recordedTalk.ringing : recordedTalk.maybe;',
        'return recordedTalk.maybe;',
      ),
    ],
    worlds: ['withheld'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'a record with a duration and no words' },
  },
  {
    name: 'rule 2: ringing without a record of each call',
    keeps: 'Where unanswered calls leave no record, one without words but with a duration may be a talk.',
    edits: [edit(doubts, 'return counts !== undefined && counts.records >= counts.calls;', 'return true;')],
    worlds: ['withheld'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'and where not every call' },
  },
  {
    name: 'rule 2: silence before any words',
    keeps: 'An empty transcript says that nobody spoke only where talks are known to show their words.',
    edits: [edit('src/domain/correlation/recorded-talk.ts', 'if (!shown.wordsShown) return recordedTalk.empty;')],
    worlds: ['withheld'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'an empty record may be a talk' },
  },
  {
    name: 'rule 3: the list has caught up',
    keeps: 'Whoever has no record is dialled again only when the list has shown something newer, or after a long wait.',
    edits: [
      edit(
        dialGuard,
        "if (row.disposition !== 'unreached' && row.disposition !== 'unknown') return null;",
        'return null;',
      ),
    ],
    worlds: ['list_lag', 'listed_late'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'nobody without a record is called again' },
  },
  {
    name: 'rule 3: the longest lag seen',
    keeps: 'An agent whose records came late is waited for as long again, twice over.',
    edits: [edit(dialGuard, 'const lagMs = 2 * (await listed.longestLagMs());', 'const lagMs = 0;')],
    worlds: ['list_lag', 'listed_late', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'whose records came late' },
  },
  {
    name: 'rule 3: one record shown',
    keeps: 'Absence says nothing in a campaign of which the service has shown no record.',
    edits: [edit(conclude, "if (!campaign.recordShown) return unknown('no_record_shown');")],
    worlds: ['list_lag', 'withheld', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'no record of the campaign' },
  },
  {
    name: 'the settle deadline',
    keeps: 'A record has time to be listed before its absence says anything.',
    edits: [
      edit(
        openBatches,
        'const settled = batch.progress_at + rules.timing.settleMs;',
        'const settled = batch.progress_at;',
      ),
    ],
    worlds: ['listed_late', 'late_rings'],
    test: { file: 'test/ledger/collect/settle-and-sweeps.test.ts', name: 'nobody is unreached before' },
  },
  {
    name: 'a sweep begun after the deadline',
    keeps: 'A sweep that began before the deadline cannot have seen what came until then.',
    edits: [
      edit(conclude, 'if (deadline === null || begunAt <= deadline) continue;', 'if (deadline === null) continue;'),
    ],
    worlds: ['listed_late', 'late_rings'],
    test: { file: 'test/ledger/collect/settle-and-sweeps.test.ts', name: 'nobody is unreached before' },
  },
  {
    name: 'the wait of an unknown batch',
    keeps: 'A batch without an answer is held only when nothing can be heard of it any more.',
    edits: [
      edit(
        openBatches,
        "if (batch.state === 'unknown') return batch.hold_after;",
        "if (batch.state === 'unknown') return 0;",
      ),
    ],
    worlds: ['mixed'],
    test: { file: 'test/ledger/collect/settle-and-sweeps.test.ts', name: 'a batch is held only after' },
  },
  {
    name: 'time in which nobody looked',
    keeps: 'It does not count towards the settle deadline.',
    edits: [edit(conclude, 'await skipGap(tx, open, agent?.complete_sweep_at ?? null, begunAt);')],
    worlds: ['restarted', 'mixed'],
    test: { file: 'test/ledger/collect/settle-and-sweeps.test.ts', name: 'time in which nobody looked' },
  },
  {
    name: 'weak matches stay open questions',
    keeps: 'A record found by number or words may be of another call to the same person.',
    edits: [
      edit(
        dialGuard,
        'return row.conversation_id === null || !strongEvidence.some((evidence) => evidence === row.evidence);',
        'return row.conversation_id === null;',
      ),
    ],
    worlds: ['foreign', 'partly_shown', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'found by its number alone' },
  },
  {
    name: 'rule 4: a tie',
    keeps: 'A record that several calls may have left belongs to none.',
    edits: [
      edit(correlation, "if (left.some(({ e164 }) => e164 !== left[0]?.e164)) return 'tie';"),
      edit(correlation, "return free.length === 1 ? only : 'tie';", 'return only;'),
    ],
    worlds: ['barge_in', 'altered', 'shortened', 'namesakes', 'mixed', 'two_campaigns', 'foreign'],
    test: { file: 'test/domain/correlation/correlation.test.ts', name: '' },
  },
  {
    name: 'possible opt-outs',
    keeps: 'An opt-out in a record that belongs to nobody stops calls to everybody who may have made it.',
    edits: [
      edit(
        'src/ledger/doubt/possible-opt-outs.ts',
        'if (row.attempt_id === null) await',
        'if (row.caller !== null) await',
      ),
    ],
    worlds: ['two_campaigns', 'one_line', 'mixed', 'barge_in'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'a possible opt-out' },
  },
  {
    name: 'possible opt-outs of the weakly matched',
    keeps: 'An opt-out that may be theirs stops calls also to whoever another record was found for by number or words.',
    edits: [edit(doubts, "eb('evidence', 'not in', strongEvidence)", "eb('evidence', 'is', null)")],
    worlds: ['mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'found for by its words alone' },
  },
  {
    name: 'opt-outs still to be told',
    keeps: 'Nobody is called while the analysis of a call of theirs may still tell that they opted out.',
    edits: [edit(dialGuard, 'listens ? await findUnheard(tx, asked) : new Set<string>()', 'new Set<string>()')],
    worlds: ['two_campaigns', 'mixed'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'while the analysis' },
  },
  {
    name: 'opt-outs still to be told, of the weakly matched',
    keeps:
      'Nor while an analysis that may be theirs is not done, although another record was found for them by number or words.',
    edits: [edit(dialGuard, 'const answersCount = listens && (await', 'const answersCount = false && (await')],
    worlds: ['two_campaigns'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'nor while a talk that is still read' },
  },
  {
    name: 'inbound opt-outs',
    keeps: 'Who calls in and asks never to be called again is not called.',
    edits: [edit('activities/sweep.ts', 'listens: optOut.length > 0', 'listens: false')],
    worlds: ['inbound'],
    test: { file: 'test/ledger/doubt/guards.test.ts', name: 'who calls in' },
  },
];
